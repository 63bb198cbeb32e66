/* SPDX-License-Identifier: Apache-2.0
   Doubles rounded to whole numbers, and the sign; all of them are exact. */
#ifndef HU_NUMBER_ELEMENTARY_WHOLE_H
#define HU_NUMBER_ELEMENTARY_WHOLE_H

#include "lib/number/round.h"

/* The whole number nearest to x, ties to the even one; the largest one not above x; the smallest one not below x. All
   keep x's sign, also in a result of 0. */
HU_HD double
hu_rint(double x)
{
	double a = x < 0 ? -x : x, r;

	if (!(a < 0x1p52) || x == 0)
		return x;
	r = (a + 0x1p52) - 0x1p52;
	return x < 0 ? -r : r;
}

HU_HD double
hu_floor(double x)
{
	double r = hu_rint(x);

	return r > x ? r - 1 : r;
}

HU_HD double
hu_ceil(double x)
{
	double r = hu_rint(x);

	return !(r < x) ? r : r == -1 ? -0.0 : r + 1;
}

/* 1, -1, or x itself where it is 0 or NaN. */
HU_HD double hu_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
#endif
