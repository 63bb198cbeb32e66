/* SPDX-License-Identifier: Apache-2.0
   The sum of one output by a tensor core from a start value. Host and device. */
#ifndef HU_SUM_TC_UNIT_H
#define HU_SUM_TC_UNIT_H

#include "lib/sum/step.h"
#include "lib/sum/tc/scaled.h"

/* Returns a tensor core's sum from c. s is resolved. A nonzero product that is chopped to nothing counts as swamped.
   Block-scaled operands have scales of 1 here; hu_tc_scaled takes others. */
HU_HD_CALL double
hu_model_tc(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
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
				hu_count_term(count, 1, finite, finite && lost[i], k + i);
	}
	return c;
}
#endif
