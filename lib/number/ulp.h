/* SPDX-License-Identifier: Apache-2.0
   The error of a computed value in units in the last place of the exact one. */
#ifndef HU_NUMBER_ULP_H
#define HU_NUMBER_ULP_H

#include "lib/number/round.h"

/* x * 2^k for any k in [-2200, 2200]; rounds only where the result is subnormal. */
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

/* |got - exact| / 2^(max(floor(log2 |exact|), emin) - p + 1); for exact = 0 the
   unit is the smallest subnormal. GOT need not be in f. The difference is taken
   in double: right to 2^-53 relatively, and exact where the two are within a
   factor of two; an exact value that needs more than a double is for lib/exact.
   Equal infinities and two NaN have error 0, any other pair with a non-finite
   member +Inf. Never NaN. */
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
	if (!hu_isfinite(d)) /* opposite signs near fp64's end */
		return hu_times_pow2(0.5 * (got < 0 ? -got : got) + 0.5 * (exact < 0 ? -exact : exact),
			1 - hu_ulp_exponent(exact, f));
	return hu_times_pow2(d < 0 ? -d : d, -hu_ulp_exponent(exact, f));
}
#endif
