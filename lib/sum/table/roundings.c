/* SPDX-License-Identifier: Apache-2.0
   Counts the roundings of each summation model and computes the probabilistic bound (roundings.h). */
#include "lib/sum/roundings.h"

#include "lib/sum/bound.h"
#include "lib/sum/model/row.h"
#include "lib/sum/table/parts.h"

#include <math.h>

/* A factor that outweighs the roundings of the few double operations behind a bound. */
static const double UP = 1 + 0x1p-40;

void
hu_roundings_add(hu_roundings *r, hu_format f, hu_mode mode, int bits, double n)
{
	int nearest = hu_mode_nearest(mode);
	double u = (nearest ? 1 : 2) * hu_unit(f), bias = nearest ? 0 : u * ldexp(1, bits ? -bits : -32);

	if (!nearest && mode != HU_SR)
		r->none = "errors of its rounding mode have a sign of their own";
	if (!(u < 1))
		r->none = "its format has too few bits";
	if (!(n > 0))
		return;
	r->count += n;
	r->squares += n * u * u;
	r->drift += n * (u * u / (1 - u) + bias);
	r->most = u > r->most ? u : r->most;
}

void
hu_roundings_sliced(hu_roundings *r, hu_sum s, double n)
{
	double length = (double)hu_sum_model_of(s.id)->lengths(s, (size_t)n).length;

	length = length < n ? length : n;
	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, length + (length > 0 ? ceil(n / length) : 0) - 1);
}

void
hu_roundings_ranks(hu_roundings *r, hu_sum s, double n)
{
	double hops = hu_bound_hops(s, n);
	hu_format wire = hu_outer_format(s);

	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, ceil(n / (n < s.n ? n : s.n)) + hops);
	if (wire.id != s.acc)
		hu_roundings_add(r, wire, s.mode, s.bits, 1 + hops);
}

void
hu_roundings_compensated(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "a compensated sum's error hardly grows with its length";
}

void
hu_roundings_flushed(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "subnormal operands are flushed, which is no rounding error";
}

hu_roundings
hu_roundings_of_sum(hu_sum s, size_t k, size_t part)
{
	hu_roundings r = { .terms = (double)k };
	size_t parts = part && part < k ? (k + part - 1) / part : 1;

	hu_sum_model_of(s.id)->roundings(&r, s, (double)(parts > 1 ? part : k));
	if (parts > 1)
		hu_roundings_add(&r, hu_outer_format(s), hu_mode_draws(s.mode) ? s.mode : HU_RNE, s.bits,
			(double)hu_tree_depth(parts));
	r.absolute = hu_sum_apriori(s, k, part).absolute;
	return r;
}

double
hu_roundings_lambda(const hu_roundings *r, double confidence, double results)
{
	double events = (results > 1 ? results : 1) * (r->terms > 1 ? r->terms : 1);

	return sqrt(2 * log(2 * events / (1 - confidence))) / (1 - r->most) * UP;
}

double
hu_roundings_gamma(const hu_roundings *r, double lambda)
{
	return expm1((lambda * sqrt(r->squares) + r->drift) * UP) * UP;
}

double
hu_roundings_bound(const hu_roundings *r, double lambda, double mag, double value)
{
	double g = hu_roundings_gamma(r, lambda), e = (g + r->certain * (1 + g)) * mag + r->absolute * (1 + g);

	return r->none ? NAN : (e + r->last * (value + e) + r->least) * UP;
}
