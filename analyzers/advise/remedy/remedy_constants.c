/* SPDX-License-Identifier: Apache-2.0
   Constants that float16 does not hold: an eps that becomes 0, and a mask that becomes infinite. */
#include "analyzers/advise/remedy/remedy.h"

#include "lib/base/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
is_one_of(const char *op, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(op, *list))
			return 1;
	return 0;
}

static void
tell(hu_remedying *r, const hu_onnx_node *x, const hu_stensor *t, const char *was, double is)
{
	hu_str_addf(
		&r->sentences, "node '%s' (%s): constant '%s', %s, becomes %.3g\n", x->name, x->op, t->name, was, is);
	r->changed++;
}

/* Calls CHANGE for each constant that a node near the place reads as one of its first two operands (Where: its
   branches). */
static void
each_constant(hu_remedying *r, const char *const *ops,
	int (*change)(const hu_remedying *r, float *to, const float *from, size_t n),
	void (*say)(hu_remedying *r, const hu_onnx_node *x, const hu_stensor *t, const float *from))
{
	for (size_t i = 0; i < r->m->graph->nnode; i++) {
		const hu_onnx_node *x = &r->m->graph->node[i];
		int node = hu_remedy_node(r, i);
		if (!r->near[i] || node < 0 || *x->domain || !is_one_of(x->op, ops))
			continue;
		for (size_t k = 0; k < x->nin && k < 3; k++) {
			const hu_stensor *t;
			const float *from = hu_remedy_constant(r->m, x->in[k], &t);
			float *to = from ? hu_xmalloc((t->count + 1) * sizeof *to) : NULL;
			if (from && t->count && change(r, to, from, t->count)) {
				hu_remedy_replace(r, node, k, t, to);
				say(r, x, t, from);
			}
			free(to);
		}
	}
}

/* All elements are positive and below the strength. */
static int
larger(const hu_remedying *r, float *to, const float *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(from[i] > 0 && (double)from[i] < r->strength))
			return 0;
		to[i] = (float)r->strength;
	}
	return 1;
}

static void
say_larger(hu_remedying *r, const hu_onnx_node *x, const hu_stensor *t, const float *from)
{
	char was[32];

	snprintf(was, sizeof was, "%.3g", (double)from[0]);
	tell(r, x, t, was, r->strength);
}

void
hu_remedy_eps(hu_remedying *r)
{
	static const char *const ops[] = { "Add", "Max", "Clip", NULL };

	each_constant(r, ops, larger, say_larger);
}

/* Some finite or infinite element is beyond float16's largest number. */
static int
smaller(const hu_remedying *r, float *to, const float *from, size_t n)
{
	int beyond = 0;

	for (size_t i = 0; i < n; i++) {
		beyond |= fabsf(from[i]) > 65504;
		to[i] = fabsf(from[i]) > (float)r->strength ? copysignf((float)r->strength, from[i]) : from[i];
	}
	return beyond;
}

static void
say_smaller(hu_remedying *r, const hu_onnx_node *x, const hu_stensor *t, const float *from)
{
	char was[32];
	float most = 0;

	for (size_t i = 0; i < t->count; i++)
		most = fabsf(from[i]) > fabsf(most) ? from[i] : most;
	snprintf(was, sizeof was, "%.3g", (double)most);
	tell(r, x, t, was, copysign(r->strength, (double)most));
}

void
hu_remedy_mask(hu_remedying *r)
{
	static const char *const ops[] = { "Add", "Sub", "Mul", "Where", "Max", "Min", "Div", NULL };

	each_constant(r, ops, smaller, say_smaller);
}
