/* SPDX-License-Identifier: Apache-2.0
   Products of a Concat, whose parts have magnitudes far apart: one scale for all of it leaves few codes to the small
   ones. A product of each part with its own rows or channels of the weights, added up, is the same in float32, and
   every part and its weights then have scales of their own. */
#include "analyzers/advise/remedy/remedy.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 8 };

/* A product, and its weights' elements: `outer` blocks of `k` rows of `inner` elements, of which part p has size[p]. */
typedef struct split {
	const hu_onnx_node *product, *concat;
	const hu_stensor *t;
	const float *w;
	int axis; /* of the weights' rows */
	size_t size[PARTS], outer, k, inner;
} split;

static int
is_op(const hu_onnx_node *x, const char *op)
{
	return !*x->domain && !strcmp(x->op, op);
}

/* What the network knows of value NAME; NULL: nothing. */
static const hu_imported_value *
known(const hu_network *n, const char *name)
{
	for (size_t i = 0; i < n->m.nvalue; i++)
		if (!strcmp(n->m.value[i].name, name))
			return &n->m.value[i];
	return NULL;
}

/* The largest magnitude that calibration saw of V; 0 where it saw none. */
static double
magnitude(const hu_network *n, const hu_imported_value *v)
{
	const hu_range *r = n->ranges.range && v->tensor >= 0 ? &n->ranges.range[v->tensor] : NULL;

	return r && r->n ? fmax(fabs(r->low), fabs(r->high)) : 0;
}

/* The axis of product X's weights along which its sums run, and that of its left operand, of RANK axes; -1: X is no
   product that can be split. */
static int
sum_axis(const hu_onnx_node *x, int rank, int *left)
{
	*left = rank - 1;
	if (is_op(x, "MatMul"))
		return 0;
	if (is_op(x, "Gemm") && !hu_onnx_int(x, "transA", 0))
		return hu_onnx_int(x, "transB", 0) ? 1 : 0;
	*left = 1;
	return is_op(x, "Conv") && hu_onnx_int(x, "group", 1) == 1 ? 1 : -1;
}

/* Finds the Concat that node X reads, and its parts; 0 where it is no product of one with constant weights. */
static int
find(split *s, const hu_remedying *r, const hu_onnx_node *x)
{
	const hu_imported_value *v = x->nin > 1 ? known(r->n, x->in[0]) : NULL;
	int from = v ? hu_remedy_maker(r->m, x->in[0]) : -1, left;
	size_t sum = 0;

	if (from < 0 || !is_op(&r->m->graph->node[from], "Concat") || (s->axis = sum_axis(x, v->rank, &left)) < 0)
		return 0;
	s->product = x;
	s->concat = &r->m->graph->node[from];
	s->w = hu_remedy_constant(r->m, x->in[1], &s->t);
	long long axis = hu_onnx_int(s->concat, "axis", 0);
	if (!s->w || (axis < 0 ? axis + v->rank : axis) != left || s->concat->nin > PARTS || s->concat->nin < 2 ||
		(!is_op(x, "Conv") && s->t->rank != 2))
		return 0;
	for (size_t p = 0; p < s->concat->nin; p++) {
		const hu_imported_value *part = known(r->n, s->concat->in[p]);
		if (!part || part->rank != v->rank || part->type != HU_ONNX_FLOAT)
			return 0;
		s->size[p] = part->d[left];
		sum += part->d[left];
	}
	s->k = s->t->shape[s->axis];
	s->outer = s->inner = 1;
	for (int i = 0; i < s->t->rank; i++)
		*(i < s->axis ? &s->outer : &s->inner) *= i == s->axis ? 1 : s->t->shape[i];
	return sum == s->k;
}

/* 1 where the parts' magnitudes are so far apart. */
static int
is_apart(const split *s, const hu_remedying *r)
{
	double least = INFINITY, most = 0;

	for (size_t p = 0; p < s->concat->nin; p++) {
		double x = magnitude(r->n, known(r->n, s->concat->in[p]));
		least = fmin(least, x);
		most = fmax(most, x);
	}
	return least > 0 && most >= r->strength * least;
}

/* The weights of part P, whose rows begin with FROM, as a new constant. */
static const char *
rows(const split *s, hu_remedying *r, size_t p, size_t from)
{
	size_t d[HU_SAFETENSORS_RANK], row = s->size[p] * s->inner;
	float *to = hu_xmalloc((s->outer * row + 1) * sizeof *to);

	for (int i = 0; i < s->t->rank; i++)
		d[i] = i == s->axis ? s->size[p] : s->t->shape[i];
	for (size_t o = 0; o < s->outer; o++)
		memcpy(to + o * row, s->w + (o * s->k + from) * s->inner, row * sizeof *to);
	const char *name = hu_onnx_edit_constant(
		r->e, s->t->name, HU_ONNX_FLOAT, s->t->rank, d, to, s->outer * row * sizeof *to);
	free(to);
	return name;
}

/* 1 where a node of the changed file, or an output, reads VALUE. */
static int
is_read(const hu_remedying *r, const char *value)
{
	const hu_onnx_graph *g = r->m->graph;

	for (size_t i = 0; i < g->nout; i++)
		if (!strcmp(g->out[i].name, value))
			return 1;
	for (size_t i = 0; i < g->nnode; i++) {
		json_t *reads = json_object();
		int node = hu_remedy_node(r, i), is = 0, inside = 0;
		hu_onnx_node_reads(reads, &g->node[i]);
		for (size_t k = 0; k < g->node[i].nattr; k++)
			inside |= g->node[i].attr[k].ngraphs > 0;
		is = (node < 0 || inside) && json_object_get(reads, value);
		json_decref(reads);
		for (size_t k = 0; node >= 0 && k < hu_onnx_edit_inputs(r->e, node); k++)
			is |= !strcmp(hu_onnx_edit_input(r->e, node, k), value);
		if (is)
			return 1;
	}
	return 0;
}

/* Drops each Concat that nothing reads any more: a tool would look for the range of its result. */
static void
drop_unread(hu_remedying *r)
{
	for (size_t i = 0; i < r->m->graph->nnode; i++) {
		const hu_onnx_node *x = &r->m->graph->node[i];
		int node = is_op(x, "Concat") && x->nout ? hu_remedy_node(r, i) : -1;
		if (node >= 0 && !is_read(r, x->out[0]))
			hu_onnx_edit_drop(r->e, node);
	}
}

void
hu_remedy_concat(hu_remedying *r)
{
	const hu_onnx_graph *g = r->m->graph;

	for (size_t i = 0; i < g->nnode; i++) {
		split s = { .axis = 0 };
		const char *in[2], *sum = NULL;
		int node;
		if (!r->near[i] || !find(&s, r, &g->node[i]) || !is_apart(&s, r) || (node = hu_remedy_node(r, i)) < 0)
			continue;
		size_t from = s.size[0], n = s.concat->nin;
		for (size_t p = 1; p < n; from += s.size[p++]) {
			in[0] = s.concat->in[p];
			in[1] = rows(&s, r, p, from);
			const char *both[2] = { sum, hu_onnx_edit_twin(r->e, node, in, 2, s.product->out[0]) };
			sum = !sum ? both[1]
				   : hu_onnx_edit_before(r->e, node, "Add", both, 2, s.product->out[0], NULL, 0);
		}
		hu_onnx_edit_read(r->e, node, 0, s.concat->in[0]);
		hu_onnx_edit_read(r->e, node, 1, rows(&s, r, 0, 0));
		hu_onnx_edit_behind(r->e, node, 0, "Add", sum);
		hu_str_addf(&r->sentences,
			"node '%s' (%s): it is a sum of %zu products, one for each input of Concat '%s'\n",
			s.product->name, s.product->op, n, s.concat->name);
		r->changed++;
	}
	if (r->changed)
		drop_unread(r);
}
