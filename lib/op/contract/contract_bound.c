/* SPDX-License-Identifier: Apache-2.0
   Error bounds of products, from their shapes and, for processors' units, from their operands: proven ones, and the
   roundings that a probabilistic one needs. */
#include "lib/op/contract/contract.h"

#include "lib/base/mem.h"
#include "lib/sum/bound.h"
#include "lib/sum/model/row.h"
#include "lib/sum/table/parts.h"

#include <math.h>
#include <stdlib.h>

int
hu_contract_holds(hu_format b, hu_format a)
{
	return b.p >= a.p && b.max >= a.max && hu_smallest(b) <= hu_smallest(a) && hu_has_inf(b) >= hu_has_inf(a);
}

int
hu_contract_has_own_bound(const hu_call *c)
{
	return hu_sum_model_of(c->sum.id)->bound_of != NULL;
}

hu_sum_bound
hu_contract_own_bound(const hu_contract *x, const hu_call *c, size_t element, size_t part)
{
	double *a = hu_xmalloc(2 * x->k * sizeof *a);
	hu_contract one;
	size_t column, row = hu_contract_find(x, element, &one, &column);

	hu_contract_gather(&one, row, column, a, a + one.k);
	hu_sum_bound s = hu_sum_model_of(c->sum.id)->bound_of(c->sum, a, a + one.k, one.k, part, 0);
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
