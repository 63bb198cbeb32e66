/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/bound_rule.h"

#include "lib/sum/model/row.h"
#include "lib/sum/model/run.h"

#include <math.h>

double
hu_bound_growth(double u, double n)
{
	return expm1(n * log1p(u)) * HU_BOUND_UP;
}

/* Bounds Kahan's sum s of x_1 … x_n with Σ|x| = 1, where every rounding is within u of its result (additions with
   subnormal results are exact). With z = s_old + y and S = s - e, expanding the five operations gives
     |e| <= u (1+u)^2 (|z| + |x - e_old|)
     |S - (S_old + x)| <= u (1 + (1+u)^2) |x - e_old| + u^2 (2+u) |z|
     |z| <= |S_old| + |x| + u |x - e_old|
   Let D be the sum of all |x - e_old|, M the largest |z| and E the largest error of S. Then
     D <= 1 + n u (1+u)^2 M + u (1+u)^3 D,   E <= a D + b M,   M <= 1 + E + u D.
   The result s is at most E and the last |e| away from the sum. */
hu_sum_bound
hu_bound_kahan(double u, double n)
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
hu_sum_bound
hu_bound_compensated(double w, double n, int nearest, int product)
{
	double p = 1 + hu_bound_growth(w, n), d = n * w * p,
	       a = nearest ? 0 : 6 * w * (1 + w) * (p * (product ? n : 1) + d), g = hu_bound_growth(w, n + 1 + product);
	double residue = product ? w * (1 + w) : 0,
	       t = a + (nearest ? 0 : product * w * residue) + g * (d + a + residue);
	hu_sum_bound x = { 0, 0, 0, 0 };

	x.relative = w + (1 + w) * t;
	x.absolute = 3 * n * (1 + g);
	x.peak = (1 + w) * (2 * p + t + d + residue);
	return x;
}

double
hu_bound_slice(double length, double u, int nearest)
{
	return nearest ? length * u : hu_bound_growth(u, length);
}

/* RNE: the fma bound inside, then (m-1) u for m slice sums, for any m (Rump 2012). */
hu_sum_bound
hu_bound_sliced(hu_sum s, double n, double u, double outer_u)
{
	double length = (double)hu_sum_model_of(s.id)->lengths(s, (size_t)n).length, l = length < n ? length : n,
	       m = l > 0 ? ceil(n / l) : 0;
	int nearest = s.mode == HU_RNE;
	hu_sum_bound x = { 0, 0, 0, 0 };

	(void)outer_u;
	x.relative = nearest ? l * u + (m - 1) * u * (1 + l * u) : hu_bound_growth(u, l + m);
	x.absolute = n * (1 + (nearest ? (m - 1) * u : x.relative));
	x.peak = 1 + x.relative;
	return x;
}

hu_sum_bound
hu_bound_met(double n, double u, double roundings)
{
	hu_sum_bound x = { hu_bound_growth(u, roundings), 0, 0, 0 };

	x.absolute = n * (1 + x.relative);
	x.peak = 1 + x.relative;
	return x;
}

double
hu_bound_hops(hu_sum s, double n)
{
	double ranks = n < s.n ? n : s.n, node = (double)hu_sum_model_of(s.id)->ranks(s, (size_t)ranks).node,
	       members = ceil(ranks / node), two = 1, d = node < ranks ? node - 1 : ranks - 1;

	for (; 2 * two <= members; two *= 2)
		d++;
	return d + (two < members);
}

/* The bound of an all-reduce (collective.h), where w is the wire's unit roundoff. All of its hops may lose as much as
   all of its terms where subnormal numbers are flushed. */
hu_sum_bound
hu_bound_ranks(hu_sum s, double n, double u, double w)
{
	int same = hu_outer_format(s).id == s.acc;
	double hops = hu_bound_hops(s, n), ranks = n < s.n ? n : s.n, length = ceil(n / ranks),
	       e = hu_bound_slice(length, u, s.mode == HU_RNE),
	       d = same ? hu_bound_growth(u, hops)
			: (1 + hu_bound_growth(u, hops)) * (1 + hu_bound_growth(w, hops + 1)) - 1;
	hu_sum_bound x = { 0, 0, 0, 0 };

	if (same && s.mode == HU_RNE && hops == ranks - 1) /* a chain */
		d = hops * u;
	x.relative = e + (1 + e) * d;
	x.absolute = 3 * n * (1 + x.relative);
	x.peak = 1 + x.relative;
	return x;
}

hu_sum_bound
hu_bound_flushed(double n, double u, double met, double results)
{
	hu_sum_bound x = hu_bound_met(n, u, met);

	/* h is 2^-150, half of fp32's smallest number, and each flush loses less than 2^-126. */
	x.absolute = results * 0x1p24 * (1 + x.relative);
	return x;
}
