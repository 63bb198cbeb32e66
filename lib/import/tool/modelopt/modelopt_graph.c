/* SPDX-License-Identifier: Apache-2.0
   The graph as nvidia-modelopt walks it: makers, readers, chains of operators. */
#include "lib/import/tool/modelopt/modelopt.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16 }; /* of a path */

const char hu_modelopt_moves[] =
	"Flatten Transpose Concat Split Squeeze Expand ReverseSequence Reshape Tile Gather Slice GatherElements "
	"GatherND ScatterElements ScatterND OneHot";

void
hu_modelopt_add(hu_modelopt_list *l, int number)
{
	HU_GROW(l->at, l->n, l->cap);
	l->at[l->n++] = number;
}

int
hu_modelopt_has(const hu_modelopt_list *l, int number)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i] == number)
			return 1;
	return 0;
}

int
hu_modelopt_operand(const hu_modelopt *m, int n, size_t k)
{
	return k < m->x->node[n].nin ? hu_rewriting_find(m->x, m->x->node[n].in[k]) : -1;
}

int
hu_modelopt_maker(const hu_modelopt *m, int n, size_t k)
{
	int v = hu_modelopt_operand(m, n, k);

	return v < 0 ? -1 : m->producer[v];
}

int
hu_modelopt_result(const hu_modelopt *m, int n)
{
	return m->x->node[n].nout ? hu_rewriting_find(m->x, m->x->node[n].out[0]) : -1;
}

/* The tool sorts nodes by how many must run one after the other before them. */
static void
sort(hu_modelopt *m)
{
	int *level = hu_xcalloc(m->x->n + 1, sizeof *level), most = 0;

	for (size_t i = 0; i < m->x->n; i++) {
		for (size_t k = 0; k < m->x->node[i].nin; k++) {
			int p = hu_modelopt_maker(m, (int)i, k);
			if (p >= 0 && level[p] + 1 > level[i])
				level[i] = level[p] + 1;
		}
		most = level[i] > most ? level[i] : most;
	}
	for (int at = 0; at <= most; at++)
		for (size_t i = 0; i < m->x->n; i++)
			if (level[i] == at)
				hu_modelopt_add(&m->order, (int)i);
	free(level);
}

void
hu_modelopt_begin(hu_modelopt *m, hu_rewriting *x)
{
	*m = (hu_modelopt){ .x = x };
	m->producer = hu_xcalloc(x->nvalue + 1, sizeof *m->producer);
	m->readers = hu_xcalloc(x->nvalue + 1, sizeof *m->readers);
	m->residual = hu_xcalloc(x->n + 1, sizeof *m->residual);
	m->excluded = hu_xcalloc(x->n + 1, 1);
	m->grouped = hu_xcalloc(x->n + 1, 1);
	m->chosen = hu_xcalloc(x->n + 1, 1);
	for (size_t v = 0; v < x->nvalue; v++)
		m->producer[v] = -1;
	for (size_t i = 0; i < x->n; i++) {
		m->residual[i] = -1;
		for (size_t k = 0; k < x->node[i].nout; k++) {
			int v = hu_rewriting_find(x, x->node[i].out[k]);
			if (v >= 0)
				m->producer[v] = (int)i;
		}
	}
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->node[i].nin; k++) {
			int v = hu_modelopt_operand(m, (int)i, k);
			if (v >= 0)
				hu_modelopt_add(&m->readers[v], (int)i);
		}
	sort(m);
}

void
hu_modelopt_release(hu_modelopt *m)
{
	for (size_t v = 0; v < m->x->nvalue; v++)
		free(m->readers[v].at);
	for (size_t i = 0; i < m->ngroup; i++)
		free(m->group[i].at);
	for (size_t i = 0; i < m->nloose; i++)
		free(m->loose[i].at);
	free(m->order.at);
	free(m->producer);
	free(m->readers);
	free(m->residual);
	free(m->excluded);
	free(m->grouped);
	free(m->chosen);
	free(m->group);
	free(m->loose);
	free(m->plain);
}

int
hu_modelopt_is_constant(const hu_modelopt *m, int v)
{
	int p = v < 0 ? -1 : m->producer[v];

	if (v >= 0 && m->x->value[v].init)
		return 1;
	if (p < 0)
		return 0;
	const char *op = m->x->node[p].op;
	if (hu_rewriting_has("Constant Identity", op))
		return 1;
	if (hu_rewriting_has("Squeeze Unsqueeze", op) && hu_modelopt_is_constant(m, hu_modelopt_operand(m, p, 0)))
		return 1;
	int clip = strcmp(op, "Exp") ? -1 : hu_modelopt_maker(m, p, 0);
	return clip >= 0 && !strcmp(m->x->node[clip].op, "Clip") && hu_modelopt_reads_constant(m, clip);
}

int
hu_modelopt_reads_constant(const hu_modelopt *m, int node)
{
	for (size_t k = 0; k < m->x->node[node].nin; k++)
		if (hu_modelopt_is_constant(m, hu_modelopt_operand(m, node, k)))
			return 1;
	return 0;
}

typedef struct walk {
	const hu_modelopt *m;
	int forward;
	const char *wild;
} walk;

static int follows(const walk *w, int n, const char **path, size_t left, hu_modelopt_list *found);

/* 1 where a neighbour of node N begins the path. */
static int
neighbour_follows(const walk *w, int n, const char **path, size_t left, hu_modelopt_list *found)
{
	const hu_onnx_node *node = &w->m->x->node[n];

	for (size_t k = 0; k < (w->forward ? node->nout : node->nin); k++) {
		int v = hu_rewriting_find(w->m->x, w->forward ? node->out[k] : node->in[k]);
		size_t all = v < 0 ? 0 : w->forward ? w->m->readers[v].n : w->m->producer[v] >= 0;
		for (size_t i = 0; i < all; i++) {
			hu_modelopt_list below = { NULL, 0, 0 };
			int is = follows(
				w, w->forward ? w->m->readers[v].at[i] : w->m->producer[v], path, left, &below);
			for (size_t j = 0; is && j < below.n; j++)
				hu_modelopt_add(found, below.at[j]);
			free(below.at);
			if (is)
				return 1;
		}
	}
	return 0;
}

/* PATH, of LEFT operators, is the caller's to lose: once an Add of two values was met, NonBiasAdd is any Add, for the
   nodes beside it too. */
static int
follows(const walk *w, int n, const char **path, size_t left, hu_modelopt_list *found)
{
	const hu_onnx_node *node = &w->m->x->node[n];
	const char *op = node->op, *type = op, *next[LONGEST];
	int optional, is, wild;

	if (!left)
		return 1;
	if (hu_rewriting_has("Add Mul", op) && hu_modelopt_reads_constant(w->m, n))
		type = *op == 'A' ? "BiasAdd" : "ConstMul";
	if (!strcmp(type, "Add") && !strcmp(path[0], "NonBiasAdd"))
		path[0] = "Add";
	is = !strcmp(type, path[0]) || !strcmp(op, path[0]);
	wild = hu_rewriting_has(w->wild, type);
	optional = hu_rewriting_has("BiasAdd ConstMul", path[0]);
	if (!is && !wild && !optional)
		return 0;
	size_t used = is || optional;
	memcpy(next, path + used, (left - used) * sizeof *next);
	if (!is && !wild)
		return follows(w, n, next, left - used, found);
	if (is)
		hu_modelopt_add(found, n);
	return neighbour_follows(w, n, next, left - used, found) || left == used;
}

int
hu_modelopt_path(
	const hu_modelopt *m, int n, const char *path, int forward, const char *wild, hu_modelopt_list *found)
{
	char text[200], *save = NULL;
	const char *word[LONGEST];
	size_t left = 0;
	hu_modelopt_list own = { NULL, 0, 0 };

	strncpy(text, path, sizeof text - 1);
	text[sizeof text - 1] = 0;
	for (char *s = strtok_r(text, " ", &save); s && left < LONGEST; s = strtok_r(NULL, " ", &save))
		word[left++] = s;
	int is = follows(&(walk){ m, forward, wild }, n, word, left, found ? found : &own);
	free(own.at);
	return is;
}

/* The first convolution before node N, itself included. */
static int
convolution(const hu_modelopt *m, int n)
{
	if (hu_rewriting_has("Conv ConvTranspose", m->x->node[n].op))
		return n;
	for (size_t k = 0; k < m->x->node[n].nin; k++) {
		int p = hu_modelopt_maker(m, n, k), found = p < 0 ? -1 : convolution(m, p);
		if (found >= 0)
			return found;
	}
	return -1;
}

int
hu_modelopt_backbone(const hu_modelopt *m, int n)
{
	static const char *const paths[] = { "BiasAdd ConstMul ", "Relu BiasAdd ConstMul ",
		"BatchNormalization BiasAdd ", "Relu BatchNormalization BiasAdd ",
		"MaxPool Relu BatchNormalization BiasAdd ", "Mul Sigmoid BatchNormalization " };

	for (int transposed = 0; transposed < 2; transposed++)
		for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
			char path[80] = "";
			strcat(strcat(path, paths[i]), transposed ? "ConvTranspose" : "Conv");
			if (hu_modelopt_path(m, n, path, 0, hu_modelopt_moves, NULL))
				return convolution(m, n);
		}
	return -1;
}

/* How far the nodes before node N are by the way on which the tool meets them first, -1: they are not. */
static int *
distances(const hu_modelopt *m, int n)
{
	int *far = hu_xcalloc(m->x->n + 1, sizeof *far);
	hu_modelopt_list open = { NULL, 0, 0 };

	for (size_t i = 0; i < m->x->n; i++)
		far[i] = -1;
	far[n] = 0;
	hu_modelopt_add(&open, n);
	while (open.n) {
		int at = open.at[--open.n];
		for (size_t k = 0; k < m->x->node[at].nin; k++) {
			int p = hu_modelopt_maker(m, at, k);
			if (p < 0 || far[p] >= 0)
				continue;
			far[p] = far[at] + 1;
			hu_modelopt_add(&open, p);
		}
	}
	free(open.at);
	return far;
}

int
hu_modelopt_ancestor(const hu_modelopt *m, int a, int b, int distance[2])
{
	int *of_a = distances(m, a), *of_b = distances(m, b), best = -1;

	for (size_t i = 0; i < m->x->n; i++)
		if (of_a[i] >= 0 && of_b[i] >= 0 && (best < 0 || of_a[i] < of_a[best]))
			best = (int)i;
	distance[0] = best < 0 ? -1 : of_a[best];
	distance[1] = best < 0 ? -1 : of_b[best];
	free(of_a);
	free(of_b);
	return best;
}
