/* SPDX-License-Identifier: Apache-2.0
   Which nodes nvidia-modelopt quantises the operands of, by its groups, and which operands stay as they are. */
#include "lib/import/tool/modelopt/modelopt.h"

#include "lib/base/mem.h"

#include <string.h>

enum { NARROWEST = 16, DEEPEST = 10 };

/* Operators that it quantises at all. */
static const char quantisable[] = "Add AveragePool BatchNormalization Clip Conv ConvTranspose CumSum Gemm "
				  "GlobalAveragePool HardSwish LRN LayerNormalization MatMul MaxPool Mul Resize TopK",
		  pools[] = "AveragePool GlobalAveragePool MaxPool GlobalMaxPool GlobalLpPool LpPool";

static int
is(const hu_modelopt *m, int n, const char *list)
{
	return n >= 0 && !*m->x->node[n].domain && hu_rewriting_has(list, m->x->node[n].op);
}

static void
plain(hu_modelopt *m, int from, int to, int value)
{
	HU_GROW(m->plain, m->nplain, m->plaincap);
	m->plain[m->nplain++] = (hu_modelopt_edge){ from, to, value };
}

static const hu_tool_value *
value(const hu_modelopt *m, int v)
{
	return v < 0 ? NULL : &m->x->value[v];
}

/* A product of one row or column, or of fewer than 16 terms or columns. */
static int
is_small_product(const hu_modelopt *m, int n)
{
	const hu_onnx_node *node = &m->x->node[n];
	const hu_tool_value *y = value(m, hu_modelopt_result(m, n)), *b = value(m, hu_modelopt_operand(m, n, 1));
	int constant = 0, k_axis = !strcmp(node->op, "Gemm") && hu_onnx_int(node, "transB", 0) ? 1 : 2;

	if (!y || !b || y->rank < 0)
		return 0;
	for (size_t k = 0; k < node->nin; k++)
		constant |= hu_modelopt_operand(m, n, k) >= 0 && value(m, hu_modelopt_operand(m, n, k))->init != NULL;
	for (int i = 0; i < y->rank; i++)
		if ((constant ? y->rank < 3 : i >= y->rank - 2) && y->d[i] == 1)
			return 1;
	if (!constant && y->rank < 2)
		return 1;
	return (y->rank >= 2 && y->d[y->rank - 1] < NARROWEST) ||
	       (b->rank >= 2 && b->d[b->rank - k_axis] > 0 && b->d[b->rank - k_axis] < NARROWEST);
}

/* A convolution of few channels that has no kernel of codes. */
static int
is_small_convolution(const hu_modelopt *m, int n)
{
	const hu_onnx_node *node = &m->x->node[n];
	const hu_tool_value *w = value(m, hu_modelopt_operand(m, n, 1));
	const hu_onnx_attr *kernel = hu_onnx_attr_find(node, "kernel_shape");
	int64_t group = hu_onnx_int(node, "group", 1);
	int same = 1, wide = 1, first = 0;

	if (!w || !w->init)
		return 1;
	size_t out = w->init->shape[0], in = w->init->shape[1];
	if (out >= NARROWEST && in >= NARROWEST)
		return 0;
	for (size_t k = 0; kernel && k < kernel->nints; k++) {
		same &= kernel->ints[k] == kernel->ints[0];
		wide &= kernel->ints[k] >= 3;
	}
	wide &= kernel != NULL;
	for (size_t k = 0; k < node->nin; k++)
		first |= hu_modelopt_operand(m, n, k) >= 0 && value(m, hu_modelopt_operand(m, n, k))->is_in;
	if (group == 1)
		return !((out % 8 == 0 || in % 8 == 0) && (first || out >= NARROWEST || in >= NARROWEST) && same);
	return !(out % 8 == 0 && wide);
}

static void
exclude(hu_modelopt *m)
{
	const hu_tool *t = m->x->t;

	for (size_t i = 0; i < m->x->n; i++) {
		const hu_onnx_node *node = &m->x->node[i];
		m->excluded[i] = (char)(hu_rewriting_listed(&t->exclude, node->name) ||
					(is(m, (int)i, "MatMul Gemm") && is_small_product(m, (int)i)) ||
					(is(m, (int)i, "Conv") && is_small_convolution(m, (int)i)));
	}
}

/* 1 where node N is in one of the groups, or moves what such nodes make. */
static int
follows_group(const hu_modelopt *m, const char *in_group, int n, int depth)
{
	int parents = 0;

	if (in_group[n])
		return 1;
	if (depth <= 0 || !is(m, n, hu_modelopt_moves))
		return 0;
	for (size_t k = 0; k < m->x->node[n].nin; k++) {
		int p = hu_modelopt_maker(m, n, k);
		if (p < 0)
			continue;
		parents++;
		if (!follows_group(m, in_group, p, depth - 1))
			return 0;
	}
	return parents > 0;
}

/* The operands of a group's nodes that come from outside: of the first node all, of others those alone. */
static void
choose_in_groups(hu_modelopt *m)
{
	for (size_t g = 0; g < m->ngroup; g++)
		for (size_t i = 0; i < m->group[g].n; i++) {
			int n = m->group[g].at[i], outside = 0;
			size_t before = m->nplain;
			for (size_t k = 0; k < m->x->node[n].nin; k++) {
				int v = hu_modelopt_operand(m, n, k), p = v < 0 ? -1 : m->producer[v];
				if (hu_modelopt_is_constant(m, v))
					continue;
				if (p >= 0 && hu_modelopt_has(&m->group[g], p))
					plain(m, p, n, v);
				else
					outside = 1;
			}
			if (!outside)
				m->nplain = before;
			else
				m->chosen[n] = 1;
		}
}

/* The mask's Add before a Softmax of attention. */
static int
adds_mask(const hu_modelopt *m, int n)
{
	int v = hu_modelopt_result(m, n);

	for (size_t i = 0; is(m, n, "Add") && v >= 0 && i < m->readers[v].n; i++)
		if (hu_modelopt_path(m, m->readers[v].at[i], "Softmax MatMul", 1, "Flatten Reshape", NULL))
			return 1;
	return 0;
}

/* 1 where a node other than HEAD, which begins a group or was chosen of those below, reads value V. */
static int
has_other_reader(const hu_modelopt *m, const hu_modelopt_list *heads, int v, int head)
{
	size_t times = 0; /* of HEAD one mention is left out */

	for (size_t g = 0; g < m->ngroup; g++)
		times += m->group[g].at[0] == head;
	for (size_t i = 0; i < heads->n; i++)
		times += heads->at[i] == head;
	for (size_t i = 0; v >= 0 && i < m->readers[v].n; i++) {
		int r = m->readers[v].at[i];
		if (r == head && times > 1)
			return 1;
		if (r == head)
			continue;
		for (size_t g = 0; g < m->ngroup; g++)
			if (m->group[g].at[0] == r)
				return 1;
		if (hu_modelopt_has(heads, r))
			return 1;
	}
	return 0;
}

/* Pointwise nodes behind a group or a pool. */
static void
choose_loose(hu_modelopt *m, const char *in_group, hu_modelopt_edge **kept, size_t *nkept, size_t *cap)
{
	hu_modelopt_list heads = { NULL, 0, 0 };

	for (size_t i = 0; i < m->nloose; i++) {
		int n = m->loose[i].at[0], some = 0;
		size_t first = *nkept;
		if (!is(m, n, quantisable) || hu_modelopt_reads_constant(m, n))
			continue;
		for (size_t k = 0; k < m->x->node[n].nin; k++) {
			int p = hu_modelopt_maker(m, n, k), v = p < 0 ? -1 : hu_modelopt_result(m, p), leave = 0;
			if (p < 0)
				continue;
			if (follows_group(m, in_group, p, DEEPEST) ||
				is(m, p, "AveragePool BatchNormalization GlobalAveragePool MaxPool Mul")) {
				leave = adds_mask(m, n);
				if (!leave) {
					hu_modelopt_add(&heads, n);
					some = 1;
				}
			} else {
				leave = !has_other_reader(m, &heads, v, n);
			}
			if (leave) {
				HU_GROW(*kept, *nkept, *cap);
				(*kept)[(*nkept)++] = (hu_modelopt_edge){ p, n, v };
			}
		}
		if (!is(m, n, "Add") || !some)
			*nkept = first;
	}
	for (size_t i = 0; i < heads.n; i++)
		m->chosen[heads.at[i]] = 1;
	free(heads.at);
}

/* 1 where a node beside N, behind nodes that only move values, is chosen. */
static int
has_chosen(const hu_modelopt *m, const char *set, int n, int forward)
{
	const hu_onnx_node *node = &m->x->node[n];

	for (size_t k = 0; k < (forward ? node->nout : node->nin); k++) {
		int v = hu_rewriting_find(m->x, forward ? node->out[k] : node->in[k]);
		size_t all = v < 0 ? 0 : forward ? m->readers[v].n : m->producer[v] >= 0;
		for (size_t i = 0; i < all; i++) {
			int at = forward ? m->readers[v].at[i] : m->producer[v];
			if (set[at] || ((is(m, at, hu_modelopt_moves) || (!forward && is(m, at, "Cast"))) &&
					       has_chosen(m, set, at, forward)))
				return 1;
		}
	}
	return 0;
}

/* What no group has: nodes of two values, and then pools beside chosen nodes. */
static void
choose_rest(hu_modelopt *m)
{
	char *set = hu_xcalloc(m->x->n + 1, 1);

	for (int pooling = 0; pooling < 2; pooling++) {
		memcpy(set, m->chosen, m->x->n);
		for (size_t i = 0; i < m->x->n; i++) {
			int n = (int)i;
			if (m->grouped[n] || !is(m, n, quantisable) || is(m, n, pools) != pooling)
				continue;
			if (pooling ? has_chosen(m, set, n, 1) || has_chosen(m, set, n, 0)
				    : !(hu_modelopt_is_pointwise(&m->x->node[n]) && hu_modelopt_reads_constant(m, n)))
				m->chosen[n] = 1;
		}
	}
	free(set);
}

/* Nodes that make the model's outputs are left, but for products. */
static void
leave_outputs(hu_modelopt *m)
{
	for (size_t i = 0; i < m->x->n; i++) {
		int partly = 0;
		for (size_t k = 0; k < m->nplain; k++)
			partly |= m->plain[k].to == (int)i;
		for (size_t k = 0; k < m->x->node[i].nout; k++) {
			const hu_tool_value *v = value(m, hu_rewriting_find(m->x, m->x->node[i].out[k]));
			if (v && v->is_out && !partly && !is(m, (int)i, "Conv Gemm MatMul"))
				m->chosen[i] = 0;
		}
	}
}

void
hu_modelopt_choose(hu_modelopt *m)
{
	char *in_group = hu_xcalloc(m->x->n + 1, 1);
	hu_modelopt_edge *late = NULL;
	size_t nlate = 0, cap = 0;

	exclude(m);
	hu_modelopt_groups(m);
	for (size_t g = 0; g < m->ngroup; g++)
		for (size_t i = 0; i < m->group[g].n; i++)
			in_group[m->group[g].at[i]] = 1;
	choose_in_groups(m);
	for (size_t i = 0; i < m->order.n; i++) {
		int n = m->order.at[i];
		for (size_t k = 0; m->excluded[n] && is(m, n, hu_modelopt_linear) && k < m->x->node[n].nin; k++)
			if (hu_modelopt_maker(m, n, k) >= 0)
				plain(m, hu_modelopt_maker(m, n, k), n, hu_modelopt_operand(m, n, k));
	}
	choose_loose(m, in_group, &late, &nlate, &cap);
	for (size_t i = 0; i < m->order.n; i++) {
		int n = m->order.at[i], p = hu_modelopt_maker(m, n, 0);
		if (is(m, n, "LayerNormalization") && p >= 0 && follows_group(m, in_group, p, DEEPEST))
			m->chosen[n] = 1;
	}
	for (size_t i = 0; i < m->nplain; i++)
		m->chosen[m->plain[i].to] = 1;
	choose_rest(m);
	leave_outputs(m);
	for (size_t i = 0; i < nlate; i++)
		plain(m, late[i].from, late[i].to, late[i].value);
	for (size_t i = 0; i < m->x->n; i++)
		m->chosen[i] = (char)(m->chosen[i] && !m->excluded[i]);
	free(late);
	free(in_group);
}
