/* SPDX-License-Identifier: Apache-2.0
   2^x in fp32 by one sequence of operations, the same on host and device. */
#ifndef HU_OP_CONTRACT_FLASH_EXP2_H
#define HU_OP_CONTRACT_FLASH_EXP2_H

#include "lib/base/hd.h"

#include <math.h>
#include <string.h>

/* Returns 2^x: n is x rounded to a whole number, f = x - n is exact, a polynomial of degree 6 with the constant 1
   takes f (its own error is below 2^-28 of 2^f on [-1/2, 1/2]; coefficients by Remez' algorithm, rounded to fp32),
   six fused multiply-adds by Horner's rule, and n is added to the exponent. The result errs by at most
   HU_FLASH_EXP of itself (flash.h; t/op/attention/x-flash-exp2.c tries all floats); 2^0 is 1. What would be below
   2^-126 is +0, what would be 2^128 or more is +Inf; NaN stays NaN. */
HU_HD float
hu_flash_exp2(float x)
{
	float at = x < -160 ? -160 : x > 160 ? 160 : x, n = rintf(at), f = at - n, r = 0x1.470b4ap-13f;
	int bits, field;

	r = fmaf(r, f, 0x1.5f7276p-10f);
	r = fmaf(r, f, 0x1.3b270ep-7f);
	r = fmaf(r, f, 0x1.c6ae72p-5f);
	r = fmaf(r, f, 0x1.ebfbe2p-3f);
	r = fmaf(r, f, 0x1.62e432p-1f);
	r = fmaf(r, f, 1);
	memcpy(&bits, &r, sizeof bits);
	field = (bits >> 23) + (int)(x == x ? n : 0);
	bits = field <= 0 ? 0 : field >= 255 ? 0x7f800000 : (bits & 0x7fffff) | field << 23;
	memcpy(&r, &bits, sizeof r);
	return x == x ? r : x;
}
#endif
