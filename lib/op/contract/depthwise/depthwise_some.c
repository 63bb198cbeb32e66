/* SPDX-License-Identifier: Apache-2.0
   Single outputs of a depthwise convolution whose terms are added by fours. Others are those of any product. */
#include "lib/op/contract/depthwise/depthwise.h"

#include "lib/base/mem.h"
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include <stdlib.h>

/* a + b; an addition is swamped where one of two numbers that are not 0 leaves the other as it was. */
static float
plus(float a, float b, hu_swamp *count)
{
	float s = a + b;

	if (a != 0 && b != 0 && hu_isfinite((double)a) && hu_isfinite((double)b)) {
		count->additions++;
		count->swamped += s == a || s == b;
	}
	return s;
}

static float
by_fours(const double *a, const double *b, size_t n, hu_swamp *count)
{
	float all = 0;

	for (size_t k = 0, some; k < n; k += some) {
		some = hu_depthwise_four(n - k);
		float sum = (float)a[k] * (float)b[k];
		for (size_t j = k + 1; j < k + some; j++)
			sum = plus(sum, (float)a[j] * (float)b[j], count);
		all = k ? plus(all, sum, count) : all + sum; /* the first is added to +0 */
	}
	return all;
}

hu_status
hu_depthwise_some(const hu_call *call, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, double *value, hu_swamp *count)
{
	hu_contract x;
	hu_call settled, *c = &settled;
	hu_swamp k = { 0, 0, 0, 0 };

	HU_TRY(hu_contract_settle(c, call, in));
	hu_contract_open(&x, c, in);
	if (!hu_depthwise_is_by_fours(&x, c))
		return hu_contract_some(call, in, out, element, n, env, value, count);
	double *a = hu_xmalloc(2 * (x.k + 1) * sizeof *a), *b = a + x.k + 1;
	for (size_t i = 0; i < n; i++) {
		hu_contract one;
		size_t column, row = hu_contract_find(&x, element[i], &one, &column);
		hu_contract_gather(&one, row, column, a, b);
		hu_performed_macs(one.k);
		double v = (double)by_fours(a, b, one.k, &k);
		value[i] = hu_isnan(v) ? hu_nan() : hu_stored(c, env, c->fmt.out, element[i], v / x.scale);
	}
	free(a);
	if (count) {
		count->additions += k.additions;
		count->swamped += k.swamped;
		count->outputs += n;
	}
	return HU_OK;
}

hu_status
hu_depthwise_swamping(const hu_call *call, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, hu_swamp *count)
{
	hu_contract x;
	hu_call settled, *c = &settled;

	HU_TRY(hu_contract_settle(c, call, in));
	hu_contract_open(&x, c, in);
	if (!hu_depthwise_is_by_fours(&x, c))
		return hu_contract_swamping(call, in, out, element, n, env, count);
	double *value = hu_xmalloc((n + 1) * sizeof *value);
	hu_status st = hu_depthwise_some(call, in, out, element, n, env, value, count);
	free(value);
	return st;
}
