/* SPDX-License-Identifier: Apache-2.0
   Error bounds of products, from their shapes and, for tensor cores, from their operands: proven ones, and the
   roundings that a probabilistic one needs. */
#include "lib/op/contract/contract.h"

#include "lib/base/mem.h"
#include "lib/sum/bound.h"
#include "lib/sum/table/parts.h"
#include "lib/sum/tc/tc.h"

#include <math.h>
#include <stdlib.h>

int
hu_contract_holds(hu_format b, hu_format a)
{
	return b.p >= a.p && b.max >= a.max && hu_smallest(b) <= hu_smallest(a) && hu_has_inf(b) >= hu_has_inf(a);
}

/* Bounds a tensor core's sum of these operands as an absolute error: the error of chopping them to its input formats,
   plus the error of the chopped operands' sum. */
static hu_sum_bound
tc_bound(const hu_call *c, const double *a, const double *b, size_t k, size_t part)
{
	hu_tc t = hu_tc_of(c->sum.arch, c->sum.in, c->sum.path);
	hu_format fa = hu_tc_inner(t, hu_format_of(c->sum.in)), fb = hu_tc_inner(t, hu_format_of(c->sum.in2));
	hu_sum_bound s = { 0, 0, 0, INFINITY };
	double moved = 0, mag = 0;
	int most = HU_TC_TINY;

	for (size_t i = 0; i < k; i++) {
		int32_t am, ae, bm, be;
		if (!hu_isfinite(a[i]) || !hu_isfinite(b[i])) {
			s.absolute = INFINITY;
			return s;
		}
		hu_tc_split(a[i], fa, &am, &ae);
		hu_tc_split(b[i], fb, &bm, &be);
		most = am && bm && ae + be > most ? ae + be : most;
		double p = am && bm ? ldexp((double)am * bm, ae + be - fa.p - fb.p + 2) : 0, d = fma(a[i], b[i], -p);
		mag += p < 0 ? -p : p;
		moved += d < 0 ? -d : d;
	}
	mag += mag * ((double)k + 2) * 0x1p-52;
	s.absolute = hu_sum_tc_bound(c->sum, k, part, most, mag) + moved * (1 + ((double)k + 2) * 0x1p-52);
	return s;
}

hu_sum_bound
hu_contract_tc_bound(const hu_contract *x, const hu_call *c, size_t element, size_t part)
{
	double *a = hu_xmalloc(2 * x->k * sizeof *a);
	hu_contract one;
	size_t column, row = hu_contract_find(x, element, &one, &column);

	hu_contract_gather(&one, row, column, a, a + one.k);
	hu_sum_bound s = tc_bound(c, a, a + one.k, one.k, part);
	free(a);
	return s;
}

double
hu_contract_unit_bound(const hu_call *c, const hu_shape *in)
{
	hu_contract x;

	hu_contract_describe(&x, c, in);
	size_t part = hu_attr_count(c, "part", 0);
	hu_format out = hu_format_of(c->fmt.out),
		  inner = part && part < x.k ? hu_outer_format(c->sum) : hu_part_format(c->sum);
	hu_sum s = c->sum;
	if (hu_sum_resolve(&s, c->fmt.in, c->fmt.in, c->fmt.acc) !=
		HU_OK) /* there is no such unit; the call itself reports that when it runs */
		return INFINITY;
	double sum = hu_sum_apriori(s, x.k, part).relative,
	       last = hu_contract_holds(out, inner) ? 0
						    : (c->mode == HU_RNE || c->mode == HU_RNA ? 1 : 2) * hu_unit(out);
	return sum + last * (1 + sum);
}

hu_roundings
hu_contract_roundings(const hu_call *call, hu_tensor *const *in, int output)
{
	hu_contract x;
	hu_call settled, *c = &settled;
	size_t part = hu_attr_count(call, "part", 0);

	(void)output;
	if (hu_contract_settle(c, call, in) != HU_OK)
		return (hu_roundings){ .none = "there is no such sum" };
	hu_contract_open(&x, c, in);
	hu_format out = hu_format_of(c->fmt.out),
		  inner = part && part < x.k ? hu_outer_format(c->sum) : hu_part_format(c->sum);
	hu_roundings r = hu_roundings_of_sum(c->sum, x.k, part);
	r.absolute /= x.scale;
	if (!hu_contract_holds(out, inner) || x.scale != 1) {
		double ulps = c->mode == HU_RNE || c->mode == HU_RNA ? 0.5 : 1;
		r.last = 2 * ulps * hu_unit(out);
		r.least = ulps * hu_smallest(out);
	}
	return r;
}
