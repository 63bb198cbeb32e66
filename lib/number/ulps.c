/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/ulps.h"

#include <math.h>
#include <stdio.h>

double
hu_ulps_most(hu_format f)
{
	return ldexp(1, f.p);
}

const char *
hu_ulps_text(char text[32], double ulps, hu_format f, int digits)
{
	if (ulps > hu_ulps_most(f) && !isinf(ulps))
		snprintf(text, 32, "over 2^%d", f.p);
	else
		snprintf(text, 32, "%.*g", digits, ulps);
	return text;
}
