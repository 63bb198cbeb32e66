/* SPDX-License-Identifier: Apache-2.0
   The plain version of every summation model: one output's products in ascending k, each operation of the accumulator
   rounded once to its format (step.h). This file has pairwise sums, those of tensor cores and the choice by a model's
   row. Host and device. */
#ifndef HU_SUM_MODEL_H
#define HU_SUM_MODEL_H

#include "lib/sum/collective.h"
#include "lib/sum/compensated.h"
#include "lib/sum/slices.h"
#include "lib/sum/sum.h"
#include "lib/sum/tc/scaled.h"

/* Rounds n products and sums them by halves. The first half is the largest power of two below n. */
HU_HD_CALL double
hu_model_pairwise(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double level[64], x;
	size_t size[64], at;
	int top = 0;

	/* Finished subtrees are kept like the digits of a binary counter, which needs no recursion on a device. */
	for (size_t k = 0; k < n; k++) {
		x = hu_model_product(a[k], b[k], f, mode, draw, k);
		for (at = 1; top && size[top - 1] == at; at *= 2)
			x = hu_model_node(level[--top], x, f, mode, draw, k + 1 - at, count);
		level[top] = x;
		size[top++] = at;
	}
	if (!top)
		return 0;
	x = level[--top];
	for (at = n - size[top]; top; at -= size[top]) {
		top--;
		x = hu_model_node(level[top], x, f, mode, draw, at, count);
	}
	return x;
}

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

/* Returns 1 where a sum has its result in another format than acc: that of the second accumulator or of the wire. */
HU_HD int
hu_sum_has_outer(hu_sum s)
{
	return s.id == HU_SUM_PROMOTE || s.id == HU_SUM_RING || s.id == HU_SUM_TREE || s.id == HU_SUM_HALVING ||
	       s.id == HU_SUM_HIER;
}

/* The format in which parts and lanes combine; for promote that of the second accumulator, for an all-reduce the
   wire's. */
HU_HD hu_format
hu_outer_format(hu_sum s)
{
	if (s.outer == HU_NO_FORMAT && s.id == HU_SUM_PROMOTE)
		return hu_format_of(s.acc == HU_FP64 ? HU_FP64 : HU_FP32);
	return hu_format_of(s.outer == HU_NO_FORMAT ? s.acc : s.outer);
}

/* The format of one part's sum. */
HU_HD hu_format
hu_part_format(hu_sum s)
{
	return hu_sum_has_outer(s) ? hu_outer_format(s) : hu_format_of(s.acc);
}

/* A copy of draw with as many bits as model s uses; zeros where draw is NULL. */
HU_HD hu_draw
hu_draw_of(const hu_draw *draw, hu_sum s)
{
	hu_draw d = { 0, 0, 0, 0, 0 };

	if (draw)
		d = *draw;
	d.bits = s.bits;
	return d;
}

/* Computes one part: n products a[k] * b[k], added from +0 by the resolved model s. count may be NULL, and so may
   `from` where the mode draws nothing. */
HU_HD double
hu_model_run(const double *a, const double *b, size_t n, hu_sum s, const hu_draw *from, hu_sum_count *count)
{
	hu_format f = hu_format_of(s.acc);
	hu_draw all = hu_draw_of(from, s);
	const hu_draw *draw = &all;
	double acc = 0;

	switch (s.id) {
	case HU_SUM_FMA:
		for (size_t k = 0; k < n; k++)
			acc = hu_model_fma(acc, a[k], b[k], f, s.mode, draw, k, count);
		return acc;
	case HU_SUM_SEQUENTIAL:
		for (size_t k = 0; k < n; k++)
			acc = hu_acc_term(acc, hu_model_product(a[k], b[k], f, s.mode, draw, k), f, s.mode, draw, k,
				HU_DRAW_SUM, count);
		return acc;
	case HU_SUM_CHUNK:
	case HU_SUM_OPENBLAS:
		return hu_model_slices(a, b, n, (size_t)s.n, s.id == HU_SUM_OPENBLAS, f, f, s.mode, draw, count);
	case HU_SUM_PAIRWISE: return hu_model_pairwise(a, b, n, f, s.mode, draw, count);
	case HU_SUM_KAHAN: return hu_model_kahan(a, b, n, f, s.mode, draw, count);
	case HU_SUM_NEUMAIER: return hu_model_neumaier(a, b, n, f, s.mode, draw, count);
	case HU_SUM_DOT2: return hu_model_dot2(a, b, n, f, s.mode, draw, count);
	case HU_SUM_FABSUM: return hu_model_fabsum(a, b, n, (size_t)s.n, f, s.mode, draw, count);
	case HU_SUM_SPLITK:
		return hu_model_slices(a, b, n, (n + (size_t)s.n - 1) / (size_t)s.n + !n, 0, f, f, s.mode, draw, count);
	case HU_SUM_PROMOTE:
		return hu_model_slices(a, b, n, (size_t)s.n, 0, f, hu_outer_format(s), s.mode, draw, count);
	case HU_SUM_TC: return hu_model_tc(a, b, n, 0, s, count);
	case HU_SUM_RING:
	case HU_SUM_TREE:
	case HU_SUM_HALVING:
	case HU_SUM_HIER: return hu_model_ranks(a, b, n, s, hu_outer_format(s), draw, count);
	default: return hu_nan();
	}
}
#endif
