/* SPDX-License-Identifier: Apache-2.0
   Sums of slices: terms are added by fma within a slice, and the slices' sums are added in ascending order. Chunks,
   halves of OpenBLAS's last terms, split-k and promotion to a second accumulator are all of this kind. Host and
   device. */
#ifndef HU_SUM_SLICES_H
#define HU_SUM_SLICES_H

#include "lib/sum/step.h"

/* Adds n terms by fma, from +0. The first of them is term k of the sum. */
HU_HD_CALL double
hu_model_slice(const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k,
	hu_sum_count *count)
{
	double acc = 0;

	for (size_t i = 0; i < n; i++)
		acc = hu_model_fma(acc, a[i], b[i], f, mode, draw, k + i, count);
	return acc;
}

/* Returns how many of the `left` last terms the next slice has, where slices have `length` terms. With evened = 1 what
   is longer than one slice and shorter than two is cut into halves, of which the first may be longer by one. */
HU_HD size_t
hu_slice_terms(size_t left, size_t length, int evened)
{
	if (left <= length)
		return left;
	return evened && left < 2 * length ? (left + 1) / 2 : length;
}

/* fma in f within slices (hu_slice_terms); the slice sums are added in the format outer, in ascending order. */
HU_HD_CALL double
hu_model_slices(const double *a, const double *b, size_t n, size_t length, int evened, hu_format f, hu_format outer,
	hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0;

	for (size_t k = 0, m; k < n; k += m) {
		hu_sum_count inner = { 0, 0, 0, 0, 0 };
		m = hu_slice_terms(n - k, length, evened);
		double slice = hu_model_slice(a + k, b + k, m, f, mode, draw, k, count ? &inner : 0);
		acc = hu_acc_term(acc, slice, outer, mode, draw, k, HU_DRAW_OUTER, count);
		hu_count_slice(count, &inner);
	}
	return acc;
}
#endif
