/* SPDX-License-Identifier: Apache-2.0
   The sum of one output by a tensor core from a start value. Host and device. */
#ifndef HU_SUM_TC_UNIT_H
#define HU_SUM_TC_UNIT_H

#include "lib/sum/result.h"
#include "lib/sum/step.h"
#include "lib/sum/tc/scaled.h"

/* Returns the unit's own sum from c, of products that are number `first` and on of the whole sum. */
HU_HD_CALL double
hu_tc_run(const double *a, const double *b, size_t n, double c, hu_sum s, uint64_t first, hu_sum_count *count)
{
	enum { STEP = 64 }; /* a multiple of every block */
	int32_t am[STEP], ae[STEP], bm[STEP], be[STEP];
	unsigned char lost[STEP];
	hu_tc t = hu_tc_of_sum(s);
	hu_format out = hu_format_of(s.out), fa = hu_tc_inner(t, hu_format_of(s.in)),
		  fb = hu_tc_inner(t, hu_format_of(s.in2));

	for (size_t k = 0; k < n; k += STEP) {
		size_t m = n - k < STEP ? n - k : STEP;
		int finite = hu_isfinite(c);
		for (size_t i = 0; i < m && !s.group; i++) {
			hu_tc_split(a[k + i], fa, &am[i], &ae[i]);
			hu_tc_split(b[k + i], fb, &bm[i], &be[i]);
		}
		c = s.group ? hu_tc_scaled(a + k, 0, b + k, 0, m, c, s, count ? lost : 0)
			    : hu_tc_sum(am, ae, bm, be, m, fa.p + fb.p - 2, c, t, out, count ? lost : 0);
		finite &= hu_isfinite(c);
		for (size_t i = 0; count && i < m; i++)
			if (a[k + i] != 0 && b[k + i] != 0)
				hu_count_term(count, 1, finite, finite && lost[i], first + k + i);
	}
	return c;
}

/* Returns a tensor core's sum from c. s is resolved. A nonzero product that is chopped to nothing counts as swamped.
   Block-scaled operands have scales of 1 here; hu_tc_scaled takes others. With promote=N (s.n) the unit's accumulators
   start again from +0 every N products, and what they held is added by the ordinary units, in fp32 or s.outer and to
   nearest even, to an accumulator that starts at c (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2). */
HU_HD_CALL double
hu_model_tc(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	hu_format outer = hu_outer_format(s);
	size_t length = s.n ? (size_t)s.n : n;

	if (!s.n)
		return hu_tc_run(a, b, n, c, s, 0, count);
	for (size_t k = 0; k < n; k += length) {
		hu_sum_count inner = { 0, 0, 0, 0, 0 };
		size_t m = n - k < length ? n - k : length;
		double slice = hu_tc_run(a + k, b + k, m, 0, s, k, count ? &inner : 0);
		c = hu_acc_term(c, slice, outer, HU_RNE, 0, k, HU_DRAW_OUTER, count);
		hu_count_slice(count, &inner);
	}
	return hu_isnan(c) ? hu_tc_nan() : c;
}
#endif
