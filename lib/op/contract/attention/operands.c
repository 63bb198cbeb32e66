/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/attention.h"

#include <math.h>

static size_t
rows_of(hu_shape s)
{
	return s.d[s.rank - 2];
}

hu_attention
hu_attention_of(const hu_call *c, hu_tensor *const *in, int gradient, const hu_sink *sink)
{
	hu_attention a = { .c = c, .in = in, .sink = sink, .mask = -1, .out = -1, .lse = -1, .dy = -1 };
	int first = gradient ? 6 : 3;

	if (gradient) {
		a.out = 3;
		a.lse = 4;
		a.dy = 5;
	}
	if (c->nin > first)
		a.mask = first;
	a.L = rows_of(in[0]->shape);
	a.S = rows_of(in[1]->shape);
	a.E = hu_last(in[0]->shape);
	a.V = hu_last(in[2]->shape);
	a.Q = in[0]->n / (a.L * a.E);
	a.repeat = a.Q / (in[1]->n / (a.S * a.E));
	a.causal = hu_attr_num(c, "causal", 0) != 0;
	a.factor = hu_attr_num(c, "factor", 1 / sqrt((double)a.E));
	return a;
}

hu_status
hu_attention_shape(const hu_call *c, const hu_shape *in, int mask)
{
	for (int k = 0; k < 3; k++)
		if (in[k].rank < 2 || !hu_count(in[k]))
			return hu_fail(HU_EINVAL, "%s: operand %d needs rank 2 or more and elements", c->op->name, k);
	size_t L = rows_of(in[0]), S = rows_of(in[1]), E = hu_last(in[0]);
	size_t Q = hu_count(in[0]) / (L * E), K = hu_count(in[1]) / (S * hu_last(in[1]));
	if (hu_last(in[1]) != E || rows_of(in[2]) != S || hu_count(in[2]) != K * S * hu_last(in[2]) || Q % K)
		return hu_fail(HU_EINVAL, "%s: the keys or values do not fit the queries", c->op->name);
	if (c->nin > mask && (in[mask].rank < 2 || hu_last(in[mask]) != S || rows_of(in[mask]) != L ||
				     (hu_count(in[mask]) != L * S && hu_count(in[mask]) != Q * L * S)))
		return hu_fail(HU_EINVAL, "%s: the mask does not fit the scores", c->op->name);
	return HU_OK;
}

size_t
hu_attention_mask(const hu_attention *a, size_t b, size_t i, size_t j)
{
	size_t whole = a->L * a->S;

	return (a->in[a->mask]->n == whole ? 0 : b * whole) + i * a->S + j;
}
