/* SPDX-License-Identifier: Apache-2.0
   Norms that are written as a square, its mean or sum, an eps and a root: what is squared is scaled by a power of two,
   eps by its square, and the root is scaled back, which changes no float32 result but where the squares are tiny. */
#include "analyzers/advise/remedy/remedy.h"

#include <math.h>
#include <string.h>

enum { SMALLEST = -24 }; /* the exponent of float16's smallest positive number */

static int
is(const hu_onnx *m, int node, const char *op)
{
	return node >= 0 && !*m->graph->node[node].domain && !strcmp(m->graph->node[node].op, op);
}

/* 1 where the node is x * x or x to the power of 2. */
static int
squares(const hu_onnx *m, int node)
{
	const hu_onnx_node *x = &m->graph->node[node];
	const hu_stensor *t;

	if (is(m, node, "Mul"))
		return !strcmp(x->in[0], x->in[1]);
	const float *p = is(m, node, "Pow") ? hu_remedy_constant(m, x->in[1], &t) : NULL;
	return p && t->count == 1 && *p == 2;
}

/* The eps that node SUM adds to its other operand, of one element, and at which operand it stands; NULL: none. */
static const float *
eps_of(const hu_onnx *m, int sum, size_t *at)
{
	const hu_stensor *t;

	for (*at = 0; *at < 2; (*at)++) {
		const float *eps = hu_remedy_constant(m, m->graph->node[sum].in[*at], &t);
		if (eps && t->count == 1 && *eps > 0)
			return eps;
	}
	return NULL;
}

/* The nodes behind the square: its mean or sum, the sum with eps (-1: none) and the root. Returns 0 where it has
   others. */
static int
norm_behind(const hu_onnx *m, int square, int *sum, int *root)
{
	int mean = hu_remedy_reader(m, m->graph->node[square].out[0]);

	if (!is(m, mean, "ReduceMean") && !is(m, mean, "ReduceSum"))
		return 0;
	int next = hu_remedy_reader(m, m->graph->node[mean].out[0]);
	*sum = is(m, next, "Add") ? next : -1;
	*root = *sum >= 0 ? hu_remedy_reader(m, m->graph->node[next].out[0]) : next;
	return is(m, *root, "Sqrt");
}

static void
scale(hu_remedying *r, int square, int sum, int root)
{
	const hu_onnx_node *x = &r->m->graph->node[square];
	int edited = hu_remedy_node(r, (size_t)square), last = hu_remedy_node(r, (size_t)root);
	double s = r->strength;
	size_t at = 0;
	const float *eps = sum >= 0 ? eps_of(r->m, sum, &at) : NULL;

	if (edited < 0 || last < 0 || (sum >= 0 && (!eps || hu_remedy_node(r, (size_t)sum) < 0)))
		return;
	const char *in[2] = { x->in[0], hu_remedy_number(r, "scale", s) },
		   *scaled = hu_onnx_edit_before(r->e, edited, "Mul", in, 2, "scaled", NULL, 0);
	hu_onnx_edit_read(r->e, edited, 0, scaled);
	if (!strcmp(x->op, "Mul"))
		hu_onnx_edit_read(r->e, edited, 1, scaled);
	if (eps)
		hu_onnx_edit_read(r->e, hu_remedy_node(r, (size_t)sum), at,
			hu_remedy_number(r, "eps", fmax((double)*eps * s * s, ldexp(1, SMALLEST))));
	hu_onnx_edit_behind(r->e, last, 0, "Mul", hu_remedy_number(r, "unscale", 1 / s));
	hu_str_addf(&r->sentences,
		"node '%s' (%s): '%s' is scaled by %g before it is squared, and the root at '%s' by %g\n",
		x->name, x->op, x->in[0], s, r->m->graph->node[root].name, 1 / s);
	r->changed++;
}

void
hu_remedy_squares(hu_remedying *r)
{
	for (size_t i = 0; i < r->m->graph->nnode; i++) {
		int sum, root;
		if (squares(r->m, (int)i) && norm_behind(r->m, (int)i, &sum, &root) &&
			(r->near[i] || r->near[root] || (sum >= 0 && r->near[sum])))
			scale(r, (int)i, sum, root);
	}
}
