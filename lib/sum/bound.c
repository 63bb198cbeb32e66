/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/bound.h"

#include "lib/sum/parts.h"

#include <math.h>

/* Above the roundings of the few double operations behind every value here. */
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

/* Kahan's sum s of x_1 … x_n with Σ|x| = 1, every rounding within u of its result (additions are
   exact where they are subnormal). With z = s_old + y and S = s - e, expanding the five operations:
     |e| <= u (1+u)^2 (|z| + |x - e_old|)
     |S - (S_old + x)| <= u (1 + (1+u)^2) |x - e_old| + u^2 (2+u) |z|
     |z| <= |S_old| + |x| + u |x - e_old|
   Sums over all terms, D of |x - e_old|, and maxima, M of |z|, E of the error of S:
     D <= 1 + n u (1+u)^2 M + u (1+u)^3 D,   E <= a D + b M,   M <= 1 + E + u D.
   The result is s, at most E and the last |e| away. */
static hu_sum_bound
kahan(double u, double n)
{
	double w = 1 + u, a = u * (1 + w * w), b = n * u * u * (2 + u), c = n * u * w * w, r = 1 - u * w * w * w;
	double det = 1 - b - (a + u) * c / r;
	hu_sum_bound x = { INFINITY, INFINITY, INFINITY, 0 };

	if (!(r > 0) || !(det > 0x1p-20))
		return x;
	double m = (1 + (a + u) / r) / det, d = (1 + c * m) / r, last = (1 + u * w * w * m) / r; /* last: of one |x - e_old| */
	x.relative = (a * d + b * m + u * w * w * (m + last)) * (1 + 0x1p-20);
	x.peak = (m * w > w * w * last + u * w * m ? m * w : w * w * last + u * w * m) * (1 + 0x1p-20);
	x.absolute = 0;
	return x;
}

/* One part of N terms; absolute in multiples of h. */
static hu_sum_bound
part_bound(hu_sum s, double n, double u)
{
	int nearest = s.mode == HU_RNE;
	double length = s.n, m = s.id == HU_SUM_CHUNK ? ceil(n / length) : 0, d = 0;
	hu_sum_bound x = { 0, 0, 0, 0 };

	if (s.id == HU_SUM_CHUNK && length > n)
		length = n;
	switch (s.id) {
	case HU_SUM_FMA:
		x.relative = nearest ? n * u : growth(u, n);
		x.absolute = nearest ? n : n * (1 + x.relative);
		break;
	case HU_SUM_SEQUENTIAL:
		x.relative = nearest ? n * u : growth(u, n + 1);
		x.absolute = n * (1 + x.relative);
		break;
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
	hu_mode mode = hu_mode_draws(s.mode) ? s.mode : HU_RNE; /* of the tree */
	size_t parts = part && part < k ? (k + part - 1) / part : 1;
	double h = hu_smallest(acc) * (s.mode == HU_RNE || s.mode == HU_RNA ? 0.5 : 1);
	hu_sum_bound x = part_bound(s, (double)(parts > 1 ? part : k), unit_of(acc, s.mode));

	x.absolute *= h * (double)parts;
	x.limit = acc.max;
	if (parts > 1) {
		double g = growth(unit_of(outer, mode), (double)hu_tree_depth(parts));
		x.absolute *= 1 + g;
		if (hu_smallest(outer) > hu_smallest(acc)) /* part sums may lie between outer's subnormals */
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
