/* SPDX-License-Identifier: Apache-2.0
   openblas:N: chunk:N, whose last terms are cut into halves as OpenBLAS does. */
#include "lib/sum/model/run.h"
#include "lib/sum/slices.h"

HU_SUM_RUN(openblas)
{
	hu_format f = hu_format_of(s.acc);

	return hu_model_slices(a, b, n, (size_t)s.n, 1, f, f, s.mode, draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

static hu_sum_slices
lengths(hu_sum s, size_t n)
{
	(void)n;
	return (hu_sum_slices){ (size_t)s.n, 1 };
}

const hu_sum_model hu_sum_model_openblas = {
	.words = "as chunk:N, but more than N and fewer than 2N last terms are cut into halves, as OpenBLAS does",
	.run = hu_sum_run_openblas,
	.bound = hu_bound_sliced,
	.roundings = hu_roundings_sliced,
	.order = hu_order_sliced,
	.lengths = lengths,
	.draw = HU_DRAWN_SLICES,
};
#endif
