/* SPDX-License-Identifier: Apache-2.0
   The error of a computed value in units in the last place (ulps) of the exact one. */
#ifndef HU_NUMBER_ULP_H
#define HU_NUMBER_ULP_H

#include "lib/number/round.h"

/* Returns x * 2^k for any k in [-2200, 2200]. Only a subnormal result is rounded. */
HU_HD double
hu_times_pow2(double x, int k)
{
	while (k > 1000) {
		x *= 0x1p1000;
		k -= 1000;
	}
	while (k < -1000) {
		x *= 0x1p-1000;
		k += 1000;
	}
	return x * hu_pow2(k);
}

/* Returns |got - exact| in ulps of exact: divided by 2^(max(floor(log2 |exact|), emin) - p + 1). For exact = 0 the
   unit is the smallest subnormal. got need not be a value of f. The difference is taken in double: its relative
   error is at most 2^-53, and 0 where the two are within a factor of two. (lib/exact has the error for exact values
   that no double holds.) Equal infinities and two NaN have error 0; any other pair with an infinity or NaN has +Inf.
   Never NaN. */
HU_HD double
hu_error_ulps(double got, double exact, hu_format f)
{
	double d;

	if (hu_isnan(got) || hu_isnan(exact))
		return hu_isnan(got) && hu_isnan(exact) ? 0 : hu_inf(0);
	if (got == exact)
		return 0;
	if (!hu_isfinite(got) || !hu_isfinite(exact))
		return hu_inf(0);
	d = got - exact;
	if (!hu_isfinite(d)) /* opposite signs near the end of fp64's range */
		return hu_times_pow2(0.5 * (got < 0 ? -got : got) + 0.5 * (exact < 0 ? -exact : exact),
			1 - hu_ulp_exponent(exact, f));
	return hu_times_pow2(d < 0 ? -d : d, -hu_ulp_exponent(exact, f));
}
#endif
