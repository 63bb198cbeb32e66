/* SPDX-License-Identifier: Apache-2.0
   Single outputs of a product by the plain version of its summation model, for analyzers that look at a sample, under
   the call's own model or another. */
#include "lib/op/contract/contract.h"

#include "lib/base/mem.h"
#include "lib/op/element/map.h"
#include "lib/op/performed.h"
#include "lib/sum/table/parts.h"

#include <stdlib.h>

hu_status
hu_contract_some(const hu_call *call, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, double *value, hu_swamp *count)
{
	hu_contract x;
	hu_call settled, *c = &settled;
	uint64_t additions = 0, swamped = 0, stagnated = 0;
	size_t part = hu_attr_count(call, "part", 0);

	(void)out;
	HU_TRY(hu_contract_settle(c, call, in));
	hu_contract_open(&x, c, in);
#pragma omp parallel reduction(+ : additions, swamped, stagnated)
	{
		double *a = hu_xmalloc(3 * (x.k + 1) * sizeof *a), *b = a + x.k, *sums = b + x.k;
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < n; i++) {
			hu_sum_count k = { 0, 0, 0, 0, 0 };
			hu_draw draw = { env->seed, hu_draw_stream(c->seed_name), env->step, element[i] * x.terms,
				c->sum.bits };
			hu_contract one;
			size_t column, row = hu_contract_find(&x, element[i], &one, &column);
			hu_contract_gather(&one, row, column, a, b);
			hu_performed_macs(one.k);
			double v = hu_parts_run(a, b, one.k, part, c->sum, &draw, sums, count ? &k : NULL);
			value[i] = hu_isnan(v) ? hu_nan() : hu_stored(c, env, c->fmt.out, element[i], v / x.scale);
			additions += k.additions;
			swamped += k.swamped;
			stagnated += k.run >= HU_STAGNANT_RUN;
		}
		free(a);
	}
	if (count) {
		count->additions += additions;
		count->swamped += swamped;
		count->outputs += n;
		count->stagnated += stagnated;
	}
	return HU_OK;
}
