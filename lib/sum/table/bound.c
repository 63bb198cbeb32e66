/* SPDX-License-Identifier: Apache-2.0
   A-priori bounds of sums in parts, from what a model's row has for one part. */
#include "lib/sum/bound.h"

#include "lib/sum/bound_rule.h"
#include "lib/sum/model/row.h"
#include "lib/sum/table/parts.h"

#include <math.h>

static double
unit_of(hu_format f, hu_mode mode)
{
	return (mode == HU_RNE || mode == HU_RNA ? 1 : 2) * hu_unit(f);
}

hu_sum_bound
hu_sum_apriori(hu_sum s, size_t k, size_t part)
{
	hu_format acc = hu_format_of(s.acc), outer = hu_outer_format(s);
	int promote = hu_sum_has_outer(s);
	hu_mode mode = hu_mode_draws(s.mode) ? s.mode : HU_RNE; /* the tree's mode */
	size_t parts = part && part < k ? (k + part - 1) / part : 1;
	/* Half of fp64's smallest number is no double. All of it is used then, which also covers magnitudes that
	   became 0. */
	double h = hu_smallest(acc) * ((s.mode == HU_RNE || s.mode == HU_RNA) && s.acc != HU_FP64 ? 0.5 : 1);
	hu_sum_bound x = hu_sum_model_of(s.id)->bound(
		s, (double)(parts > 1 ? part : k), unit_of(acc, s.mode), unit_of(outer, s.mode));

	if (!k) /* the sum of no terms is +0 */
		return (hu_sum_bound){ 0, 0, 0, INFINITY };
	x.absolute *= h * (double)parts;
	x.limit = promote && outer.max < acc.max ? outer.max : acc.max;
	/* Slice sums may lie between the outer format's subnormals. */
	if (promote && hu_smallest(outer) > hu_smallest(acc))
		x.absolute += 2 * (double)k * hu_smallest(outer) * (1 + x.relative);
	if (parts > 1) {
		double g = hu_bound_growth(unit_of(outer, mode), (double)hu_tree_depth(parts));
		x.absolute *= 1 + g;
		if (hu_smallest(outer) > hu_smallest(acc)) /* part sums may lie between the outer format's subnormals */
			x.absolute += 2 * (double)parts * hu_smallest(outer) * (1 + g);
		x.relative += (1 + x.relative) * g;
		x.peak = x.peak > 1 + x.relative ? x.peak : 1 + x.relative;
		x.limit = outer.max < acc.max ? outer.max : acc.max;
	}
	x.relative *= HU_BOUND_UP;
	x.absolute *= HU_BOUND_UP;
	x.peak *= HU_BOUND_UP;
	return x;
}

/* 2^e for any e. */
static double
power(int e)
{
	return ldexp(1, e);
}

/* The same with promote=N, over m = parts ceil(length / N) slices of b blocks each. With top_i the largest accumulator
   in slice i and P the largest power of two that a product or the least exponent brings, a block loses at most
   κ (top_i + P), as above; and top_i <= mag_i + e_i for the slice's magnitudes and error. So e_i <= q (mag_i + P) for
   q = b κ / (1 - b κ), and over all slices q (mag + m P). The second accumulator adds them one after another. */
static double
promoted(hu_sum s, hu_tc t, size_t length, size_t parts, int most, double mag)
{
	hu_format out = hu_format_of(s.acc), outer = hu_outer_format(s);
	size_t halves = t.kind == HU_TC_HALVES ? 2 : 1, step = (size_t)t.l * halves,
	       slice = (size_t)s.n < length ? (size_t)s.n : length;
	double each = ceil((double)length / (double)slice), m = (double)parts * each;
	int least = out.emin - t.zero > out.emin ? out.emin - t.zero : out.emin;
	double high = power(most > least ? most : least);
	double loss = (double)halves * ((t.l + 1) * power(-t.f) + power(-(out.p == 11 ? 11 : t.keep))) +
		      (halves > 1 ? power(-out.p) : 0);
	double q = (double)((slice + step - 1) / step) * loss, error,
	       g = hu_bound_growth(hu_unit(outer), each + (parts > 1 ? (double)hu_tree_depth(parts) : 0));

	if (!(q < 0.5))
		return INFINITY;
	error = q / (1 - q) * (mag + m * high) * HU_BOUND_UP;
	if (!(mag + error <= out.max) || !((mag + error) * (1 + g) <= outer.max))
		return INFINITY;
	error += g * (mag + error);
	if (hu_smallest(outer) > hu_smallest(out)) /* sums may lie between the outer format's subnormals */
		error += 2 * (m + (double)parts) * hu_smallest(outer) * (1 + g);
	return error * HU_BOUND_UP;
}

double
hu_sum_tc_bound(hu_sum s, size_t k, size_t part, int most, double mag)
{
	hu_tc t = hu_tc_of_sum(s);
	hu_format out = hu_format_of(s.acc), outer = hu_outer_format(s);
	size_t length = part && part < k ? part : k, parts = part && part < k ? (k + part - 1) / part : 1,
	       step = (size_t)t.l * (t.kind == HU_TC_HALVES ? 2 : 1);
	double blocks = (double)parts * (double)((length + step - 1) / step),
	       g = parts > 1 ? hu_bound_growth(hu_unit(outer), (double)hu_tree_depth(parts)) : 0;

	if (t.kind < 0 || !(mag <= out.max))
		return INFINITY;
	if (mag == 0)
		return 0;
	if (s.n)
		return promoted(s, t, length, parts, most, mag);
	/* No accumulator exceeds mag plus what was lost so far. Guess that sum as a multiple of mag, and see if it
	   suffices. */
	for (int guess = 1; guess <= 64; guess++) {
		double top = mag * guess, error;
		int ec = ilogb(top), last, e = out.emin - t.zero;
		ec = ec < out.emin ? out.emin : ec;
		e = ec > e ? ec : e;
		e = most > e ? most : e;
		last = ec - (out.p == 11 ? 11 : t.keep);
		error = (t.l + 1) * power(e - t.f) + power(last);
		if (t.kind == HU_TC_HALVES)
			error = 2 * error + power(ec - out.p);
		error *= blocks * HU_BOUND_UP;
		if (top <= out.max && top <= outer.max && (mag + error) * (1 + g) <= top) {
			error += g * (mag + error) + (parts > 1 && hu_smallest(outer) > hu_smallest(out)
								     ? 2 * (double)parts * hu_smallest(outer) * (1 + g)
								     : 0);
			return error * HU_BOUND_UP;
		}
	}
	return INFINITY;
}
