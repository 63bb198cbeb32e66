/* SPDX-License-Identifier: Apache-2.0
   No flag of this build flushes subnormals, fuses a product into a sum, or
   keeps more digits than the type has: not when compiling, not when linking. */
#include "t/tool/tap.h"

#include <float.h>
#include <math.h>

/* A file's static could be folded at compile time; volatile keeps the processor in it. */
static volatile float fone = 1, fmin_normal = FLT_MIN, fhalf = 0.5f;
static volatile double done = 1, dmin_normal = DBL_MIN, dhalf = 0.5;

/* (1+e)(1-e) - 1 with e = 2^-12 is -2^-24 exactly; the product rounded to 24
   bits is 1 - 2^-24, so two roundings give -2^-24 too. e = 2^-13 tells them
   apart: the product 1 - 2^-26 rounds to 1, the difference is 0, and a fused
   operation gives -2^-26. */
static float
product_then_sum(volatile float *a, volatile float *b, volatile float *c)
{
	float x = *a, y = *b, z = *c;

	return x * y + z;
}

int
main(void)
{
	is_bits32(
		bits_of_float(fmin_normal * fhalf), 0x00400000, "float: half the least normal is subnormal, not zero");
	is_bits32(bits_of_float(0x1p-149f * fone), 1, "float: the least subnormal survives a product");
	is_bits64(
		bits_of_double(dmin_normal * dhalf), 0x0008000000000000, "double: half the least normal is subnormal");
	is_bits64(bits_of_double(0x1p-1074 * done), 1, "double: the least subnormal survives a product");

	volatile float a = 1 + 0x1p-13f, b = 1 - 0x1p-13f, c = -1;
	is_bits32(bits_of_float(product_then_sum(&a, &b, &c)), 0, "x * y + z rounds twice");
	is_bits32(bits_of_float(fmaf(a, b, c)), bits_of_float(-0x1p-26f), "fmaf rounds once");

	volatile float big = FLT_MAX;
	ok(isinf(big * 2 / 2), "float expressions are evaluated in float");
	volatile double nan_value = NAN;
	ok(!(nan_value == nan_value), "NaN differs from itself");
#ifdef __FAST_MATH__
	int fast = 1;
#else
	int fast = 0;
#endif
	ok(!fast, "compiled without -ffast-math");
	return done_testing();
}
