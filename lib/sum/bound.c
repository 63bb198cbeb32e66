/* SPDX-License-Identifier: Apache-2.0
   A-priori bounds of the summation models, each with its derivation or source. */
#include "lib/sum/bound.h"

#include "lib/sum/parts.h"

#include <math.h>

/* A factor that outweighs the roundings of the few double operations behind every value here. */
static const double UP = 1 + 0x1p-40;

static double
unit_of(hu_format f, hu_mode mode)
{
	return (mode == HU_RNE || mode == HU_RNA ? 1 : 2) * hu_unit(f);
}

/* (1 + u)^n - 1, also where 1 + u is no double. */
static double
growth(double u, double n)
{
	return expm1(n * log1p(u)) * UP;
}

/* Bounds Kahan's sum s of x_1 … x_n with Σ|x| = 1, where every rounding is within u of its result (additions with
   subnormal results are exact). With z = s_old + y and S = s - e, expanding the five operations gives
     |e| <= u (1+u)^2 (|z| + |x - e_old|)
     |S - (S_old + x)| <= u (1 + (1+u)^2) |x - e_old| + u^2 (2+u) |z|
     |z| <= |S_old| + |x| + u |x - e_old|
   Let D be the sum of all |x - e_old|, M the largest |z| and E the largest error of S. Then
     D <= 1 + n u (1+u)^2 M + u (1+u)^3 D,   E <= a D + b M,   M <= 1 + E + u D.
   The result s is at most E and the last |e| away from the sum. */
static hu_sum_bound
kahan(double u, double n)
{
	double w = 1 + u, a = u * (1 + w * w), b = n * u * u * (2 + u), c = n * u * w * w, r = 1 - u * w * w * w;
	double det = 1 - b - (a + u) * c / r;
	hu_sum_bound x = { INFINITY, INFINITY, INFINITY, 0 };

	if (!(r > 0) || !(det > 0x1p-20))
		return x;
	double m = (1 + (a + u) / r) / det, d = (1 + c * m) / r,
	       last = (1 + u * w * w * m) / r; /* last bounds one |x - e_old| */
	x.relative = (a * d + b * m + u * w * w * (m + last)) * (1 + 0x1p-20);
	x.peak = (m * w > w * w * last + u * w * m ? m * w : w * w * last + u * w * m) * (1 + 0x1p-20);
	x.absolute = 0;
	return x;
}

/* Bounds sums whose compensation is added last: s_k = fl(s_(k-1) + x_k), and e_k is its computed error. Under RNE
   e_k is exact; under other modes it is off by at most w times the smaller operand (Neumaier) or the sum (TwoSum),
   where w bounds the relative error of one rounding. The e_k are summed recursively, and one more addition follows.
   With S = Σ|x| all
   |s_k| <= (1+w)^n S; the bound is in multiples of S. With `product`, each product's residue joins e_k: at most w times
   the product, and known up to w times that. */
static hu_sum_bound
compensated(double w, double n, int nearest, int product)
{
	double p = 1 + growth(w, n), d = n * w * p, a = nearest ? 0 : 6 * w * (1 + w) * (p * (product ? n : 1) + d),
	       g = growth(w, n + 1 + product);
	double residue = product ? w * (1 + w) : 0,
	       t = a + (nearest ? 0 : product * w * residue) + g * (d + a + residue);
	hu_sum_bound x = { 0, 0, 0, 0 };

	x.relative = w + (1 + w) * t;
	x.absolute = 3 * n * (1 + g);
	x.peak = (1 + w) * (2 * p + t + d + residue);
	return x;
}

/* The error of slices of `length` terms added by fma, relative to their terms' magnitudes. */
static double
slice_error(double length, double u, int nearest)
{
	return nearest ? length * u : growth(u, length);
}

/* For normal operands, where no product's exponent exceeds its magnitude. */
static double
tc_relative(hu_sum s, double n)
{
	hu_tc t = hu_tc_of_sum(s);
	double e, halves = t.kind == HU_TC_HALVES ? 2 : 1;

	if (t.kind < 0)
		return INFINITY;
	e = halves * ((t.l + 1) * ldexp(1, -t.f) + (s.acc == HU_FP16 ? 0x1p-11 : ldexp(1, -t.keep))) +
	    (halves - 1) * hu_unit(hu_format_of(s.acc));
	return growth(e, ceil(n / (halves * t.l)));
}

double
hu_sum_hops(hu_sum s, double n)
{
	double ranks = n < s.n ? n : s.n, node = s.id == HU_SUM_HIER ? s.node : 1, members = ceil(ranks / node),
	       two = 1, d = node < ranks ? node - 1 : ranks - 1;

	if (s.id == HU_SUM_RING)
		return ranks - 1;
	for (; 2 * two <= members; two *= 2)
		d++;
	return d + (two < members);
}

/* The bound of an all-reduce (collective.h), where w is the wire's unit roundoff. All of its hops may lose as much as
   all of its terms where subnormal numbers are flushed. */
static hu_sum_bound
over_ranks(hu_sum s, double n, double u, double w, int same)
{
	double hops = hu_sum_hops(s, n), length = ceil(n / (n < s.n ? n : s.n)),
	       e = slice_error(length, u, s.mode == HU_RNE),
	       d = same ? growth(u, hops) : (1 + growth(u, hops)) * (1 + growth(w, hops + 1)) - 1;
	hu_sum_bound x = { 0, 0, 0, 0 };

	if (same && s.mode == HU_RNE && s.id == HU_SUM_RING)
		d = hops * u;
	x.relative = e + (1 + e) * d;
	x.absolute = 3 * n * (1 + x.relative);
	x.peak = 1 + x.relative;
	return x;
}

/* The bound of one part of n terms. Its absolute is in multiples of h (bound.h). */
static hu_sum_bound
part_bound(hu_sum s, double n, double u, double outer_u)
{
	int nearest = s.mode == HU_RNE;
	double length = s.id == HU_SUM_SPLITK ? ceil(n / s.n)
			: s.n < n             ? s.n
					      : n,
	       m = length > 0 ? ceil(n / length) : 0, d = 0, e;
	hu_sum_bound x = { 0, 0, 0, 0 };

	switch (s.id) {
	case HU_SUM_FMA:
		x.relative = nearest ? n * u : growth(u, n);
		x.absolute = nearest ? n : n * (1 + x.relative);
		break;
	case HU_SUM_SEQUENTIAL:
		x.relative = nearest ? n * u : growth(u, n + 1);
		x.absolute = n * (1 + x.relative);
		break;
	case HU_SUM_NEUMAIER:
		x = compensated(u, n, nearest && u <= 0.125, 0);
		x.relative = u + (1 + u) * x.relative;
		x.peak *= 1 + u;
		x.absolute *= 1 + x.relative;
		return x;
	case HU_SUM_DOT2: return compensated(u, n, nearest && u <= 0.125, 1);
	case HU_SUM_FABSUM:
		x = kahan(u, m);
		e = slice_error(length, u, nearest);
		x.absolute = n * (1 + x.relative) * (1 + e);
		x.peak *= 1 + e;
		x.relative = e + (1 + e) * x.relative;
		return x;
	case HU_SUM_PROMOTE:
		e = slice_error(length, u, nearest);
		d = growth(outer_u, m);
		x.relative = e + (1 + e) * d;
		x.absolute = n * (1 + e) * (1 + d);
		break;
	case HU_SUM_TC: x.relative = tc_relative(s, n); break;
	case HU_SUM_RING:
	case HU_SUM_TREE:
	case HU_SUM_HALVING:
	case HU_SUM_HIER: return over_ranks(s, n, u, outer_u, hu_outer_format(s).id == s.acc);
	case HU_SUM_SPLITK:
	case HU_SUM_CHUNK:
		x.relative = nearest ? length * u + (m - 1) * u * (1 + length * u) : growth(u, length + m);
		x.absolute = n * (1 + (nearest ? (m - 1) * u : x.relative));
		break;
	case HU_SUM_PAIRWISE:
		for (double reach = 1; reach < n; reach *= 2)
			d++;
		x.relative = growth(u, d + 1);
		x.absolute = n * (1 + x.relative);
		break;
	case HU_SUM_KAHAN:
		x = kahan(u, n);
		x.absolute = n * (1 + x.relative);
		x.peak *= 1 + u;
		x.relative = u + (1 + u) * x.relative;
		return x;
	default: break;
	}
	x.peak = 1 + x.relative;
	return x;
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
	hu_sum_bound x = part_bound(s, (double)(parts > 1 ? part : k), unit_of(acc, s.mode), unit_of(outer, s.mode));

	if (!k) /* the sum of no terms is +0 */
		return (hu_sum_bound){ 0, 0, 0, INFINITY };
	x.absolute *= h * (double)parts;
	x.limit = promote && outer.max < acc.max ? outer.max : acc.max;
	/* Slice sums may lie between the outer format's subnormals. */
	if (promote && hu_smallest(outer) > hu_smallest(acc))
		x.absolute += 2 * (double)k * hu_smallest(outer) * (1 + x.relative);
	if (parts > 1) {
		double g = growth(unit_of(outer, mode), (double)hu_tree_depth(parts));
		x.absolute *= 1 + g;
		if (hu_smallest(outer) > hu_smallest(acc)) /* part sums may lie between the outer format's subnormals */
			x.absolute += 2 * (double)parts * hu_smallest(outer) * (1 + g);
		x.relative += (1 + x.relative) * g;
		x.peak = x.peak > 1 + x.relative ? x.peak : 1 + x.relative;
		x.limit = outer.max < acc.max ? outer.max : acc.max;
	}
	x.relative *= UP;
	x.absolute *= UP;
	x.peak *= UP;
	return x;
}

/* 2^e for any e. */
static double
power(int e)
{
	return ldexp(1, e);
}

double
hu_sum_tc_bound(hu_sum s, size_t k, size_t part, int most, double mag)
{
	hu_tc t = hu_tc_of_sum(s);
	hu_format out = hu_format_of(s.acc), outer = hu_outer_format(s);
	size_t length = part && part < k ? part : k, parts = part && part < k ? (k + part - 1) / part : 1,
	       step = (size_t)t.l * (t.kind == HU_TC_HALVES ? 2 : 1);
	double blocks = (double)parts * (double)((length + step - 1) / step),
	       g = parts > 1 ? growth(hu_unit(outer), (double)hu_tree_depth(parts)) : 0;

	if (t.kind < 0 || !(mag <= out.max))
		return INFINITY;
	if (mag == 0)
		return 0;
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
		error *= blocks * UP;
		if (top <= out.max && top <= outer.max && (mag + error) * (1 + g) <= top) {
			error += g * (mag + error) + (parts > 1 && hu_smallest(outer) > hu_smallest(out)
								     ? 2 * (double)parts * hu_smallest(outer) * (1 + g)
								     : 0);
			return error * UP;
		}
	}
	return INFINITY;
}
