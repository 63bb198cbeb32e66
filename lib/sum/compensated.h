/* SPDX-License-Identifier: Apache-2.0
   Compensated sums: what an addition lost is kept beside the sum, and given to the next addition or added at the end.
   Host and device. */
#ifndef HU_SUM_COMPENSATED_H
#define HU_SUM_COMPENSATED_H

#include "lib/sum/slices.h"

/* Kahan 1965. acc and extra are judged as one value: a term is lost where neither moves. */
HU_HD_CALL double
hu_model_kahan(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k++) {
		double x = hu_model_product(a[k], b[k], f, mode, draw, k);
		double y = hu_acc_add(x, -extra, f, mode, draw, k, HU_DRAW_SUM),
		       t = hu_acc_add(acc, y, f, mode, draw, k, HU_DRAW_KAHAN);
		double d = hu_acc_add(t, -acc, f, mode, draw, k, HU_DRAW_KAHAN + 1),
		       e = hu_acc_add(d, -y, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		if (x != 0)
			hu_count_term(
				count, acc, hu_isfinite(acc) && hu_isfinite(x), acc != 0 && t == acc && e == extra, k);
		acc = t;
		extra = e;
	}
	return acc;
}

/* fma within blocks of `length` terms; the block sums are added by Kahan's method and counted as in hu_model_kahan. */
HU_HD_CALL double
hu_model_fabsum(const double *a, const double *b, size_t n, size_t length, hu_format f, hu_mode mode,
	const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k += length) {
		hu_sum_count inner = { 0, 0, 0, 0, 0 };
		double x = hu_model_slice(
			a + k, b + k, n - k < length ? n - k : length, f, mode, draw, k, count ? &inner : 0);
		double y = hu_acc_add(x, -extra, f, mode, draw, k, HU_DRAW_OUTER),
		       t = hu_acc_add(acc, y, f, mode, draw, k, HU_DRAW_KAHAN);
		double d = hu_acc_add(t, -acc, f, mode, draw, k, HU_DRAW_KAHAN + 1),
		       e = hu_acc_add(d, -y, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		if (x != 0)
			hu_count_term(
				count, acc, hu_isfinite(acc) && hu_isfinite(x), acc != 0 && t == acc && e == extra, k);
		hu_count_slice(count, &inner);
		acc = t;
		extra = e;
	}
	return acc;
}

/* Neumaier 1974: the error is computed from the larger addend, which loses no bits. acc and extra are
   judged as one value. */
HU_HD_CALL double
hu_model_neumaier(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k++) {
		double x = hu_model_product(a[k], b[k], f, mode, draw, k),
		       s = hu_acc_add(acc, x, f, mode, draw, k, HU_DRAW_SUM);
		int larger = (acc < 0 ? -acc : acc) >= (x < 0 ? -x : x);
		double d = hu_acc_add(larger ? acc : x, -s, f, mode, draw, k, HU_DRAW_KAHAN),
		       e = hu_acc_add(d, larger ? x : acc, f, mode, draw, k, HU_DRAW_KAHAN + 1);
		double next = hu_acc_add(extra, e, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		if (x != 0)
			hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(x),
				acc != 0 && s == acc && next == extra, k);
		acc = s;
		extra = next;
	}
	return n ? hu_acc_add(acc, extra, f, mode, draw, n - 1, HU_DRAW_OUTER) : 0;
}

/* a b - p rounded to f, where p is the rounded product: one fused operation. */
HU_HD double
hu_model_residue(double a, double b, double p, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k)
{
	return f.p == 53 ? fma(a, b, -p) : hu_acc_add(a * b, -p, f, mode, draw, k, HU_DRAW_EXTRA);
}

/* Dot2 of Ogita, Rump and Oishi 2005: the errors of sums (Knuth's TwoSum) and of products are added beside the sum. */
HU_HD_CALL double
hu_model_dot2(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k++) {
		double x = hu_model_product(a[k], b[k], f, mode, draw, k),
		       r = hu_model_residue(a[k], b[k], x, f, mode, draw, k);
		double s = hu_acc_add(acc, x, f, mode, draw, k, HU_DRAW_SUM),
		       z = hu_acc_add(s, -acc, f, mode, draw, k, HU_DRAW_KAHAN);
		double u = hu_acc_add(s, -z, f, mode, draw, k, HU_DRAW_KAHAN + 1),
		       v = hu_acc_add(acc, -u, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		double w = hu_acc_add(x, -z, f, mode, draw, k, HU_DRAW_EXTRA + 1),
		       e = hu_acc_add(v, w, f, mode, draw, k, HU_DRAW_EXTRA + 2);
		double q = hu_acc_add(e, r, f, mode, draw, k, HU_DRAW_EXTRA + 3),
		       next = hu_acc_add(extra, q, f, mode, draw, k, HU_DRAW_EXTRA + 4);
		if (x != 0)
			hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(x),
				acc != 0 && s == acc && next == extra, k);
		acc = s;
		extra = next;
	}
	return n ? hu_acc_add(acc, extra, f, mode, draw, n - 1, HU_DRAW_OUTER) : 0;
}
#endif
