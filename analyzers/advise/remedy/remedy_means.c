/* SPDX-License-Identifier: Apache-2.0
   Means that are written as a sum and a division of it: part of the division stands before the sum, which then stays
   within float16 where the mean is. */
#include "analyzers/advise/remedy/remedy.h"

#include <math.h>
#include <string.h>

/* The number that the node NEXT, a Div or Mul by a constant, multiplies VALUE by; 0: it is none. *AT: the operand
   that the constant is. */
static double
factor_of(const hu_onnx *m, int next, const char *value, size_t *at)
{
	const hu_onnx_node *x = next >= 0 ? &m->graph->node[next] : NULL;
	int divides = x && !*x->domain && !strcmp(x->op, "Div"), multiplies = x && !*x->domain && !strcmp(x->op, "Mul");
	const hu_stensor *t;

	if ((!divides && !multiplies) || x->nin != 2)
		return 0;
	*at = multiplies && strcmp(x->in[0], value) ? 0 : 1;
	const float *c = strcmp(x->in[1 - *at], value) ? NULL : hu_remedy_constant(m, x->in[*at], &t);
	if (!c || t->count != 1 || !isfinite(*c) || *c == 0)
		return 0;
	return divides ? 1 / (double)*c : (double)*c;
}

/* Node SUM, whose result only NEXT reads, a product by FACTOR. The power of two that is nearest to FACTOR's STRENGTH-th
   power moves, so that float32 has the same bits but for what is subnormal. */
static void
scale(hu_remedying *r, int sum, int next, size_t at, double factor)
{
	const hu_onnx_node *x = &r->m->graph->node[sum];
	int edited = hu_remedy_node(r, (size_t)sum), last = hu_remedy_node(r, (size_t)next);
	double s = exp2(round(r->strength * log2(fabs(factor))));

	if (edited < 0 || last < 0 || s >= 1)
		return;
	const char *in[2] = { x->in[0], hu_remedy_number(r, "scale", s) };
	int divides = !strcmp(r->m->graph->node[next].op, "Div");
	const hu_stensor *t;
	double c = (double)*hu_remedy_constant(r->m, r->m->graph->node[next].in[at], &t);
	hu_onnx_edit_read(r->e, edited, 0, hu_onnx_edit_before(r->e, edited, "Mul", in, 2, "scaled", NULL, 0));
	hu_onnx_edit_read(r->e, last, at, hu_remedy_number(r, "rest", divides ? c * s : c / s));
	hu_str_addf(&r->sentences,
		"node '%s' (%s): '%s' is scaled by %g before it is added up, and '%s' by what is left\n",
		x->name, x->op, x->in[0], s, r->m->graph->node[next].name);
	r->changed++;
}

void
hu_remedy_means(hu_remedying *r)
{
	const hu_onnx_graph *g = r->m->graph;

	for (size_t i = 0; i < g->nnode; i++) {
		if (*g->node[i].domain || strcmp(g->node[i].op, "ReduceSum"))
			continue;
		size_t at = 0;
		int next = hu_remedy_reader(r->m, g->node[i].out[0]);
		double factor = factor_of(r->m, next, g->node[i].out[0], &at);
		if (factor != 0 && (r->near[i] || r->near[next]))
			scale(r, (int)i, next, at, factor);
	}
}
