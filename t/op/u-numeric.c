/* SPDX-License-Identifier: Apache-2.0
   The short ways of lib/op/numeric.h through numbers that are normal in a format, beside the plain rounding
   (lib/number/round.h): nearest even, and the distance of the neighbours. Operands are all bits of a double, numbers of
   the format, halves between them, and their neighbours among doubles, around both ends of the normal range too. */
#include "lib/op/numeric.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>

enum { DRAWS = 20000 };

static int
same(double a, double b)
{
	return hu_bits64(a) == hu_bits64(b) || (hu_isnan(a) && hu_isnan(b));
}

/* The gap as it is defined. */
static double
plain_gap(hu_format f, double x)
{
	double up = hu_round(x, f, HU_RU, 0, 0), down = hu_round(x, f, HU_RD, 0, 0);

	return up == down ? 0 : hu_isfinite(up) && hu_isfinite(down) ? up - down : INFINITY;
}

/* Operand i of a format. */
static double
operand(hu_format f, uint32_t i)
{
	hu_random w = hu_random_at(7, 1, 0, i);
	uint64_t u = (uint64_t)w.w[0] << 32 | w.w[1];
	int e = f.emin - 4 + (int)(w.w[2] % (uint32_t)(f.emax - f.emin + 8));
	double x;

	if (i % 4 == 0)
		return hu_from_bits64(u);
	if (i % 8 == 1)
		return hu_from_bits64(hu_bits64(i & 8 ? f.max : hu_pow2(f.emin)) + w.w[3] % 5 - 2);
	x = ldexp(1 + (double)(u >> (64 - (f.p < 52 ? f.p : 52))) * ldexp(1, -(f.p < 52 ? f.p : 52)), e);
	x = w.w[3] & 1 ? -x : x; /* a number of f or one half-way between two */
	return i % 4 == 1 ? x : hu_from_bits64(hu_bits64(x) + (i % 4 == 2 ? 1 : (uint64_t)-1));
}

int
main(void)
{
	for (int id = 0; id < HU_FORMATS; id++) {
		hu_format f = hu_format_of((hu_format_id)id);
		size_t apart = 0, far = 0, dropped = 0;
		for (uint32_t i = 0; i < DRAWS; i++) {
			double x = operand(f, i);
			apart += (size_t)!same(hu_rne(f, x), hu_round(x, f, HU_RNE, 0, 0));
			far += (size_t)!same(hu_gap(f, x), plain_gap(f, x));
			dropped += (size_t)hu_only_drops(f, hu_bits64(x) & 0x7fffffffffffffffu);
		}
		ok(!apart, "%s: %d numbers are rounded as by the plain rounding, %zu of them by the short way",
			hu_format_name(f.id), DRAWS, dropped);
		ok(!far, "%s: and the distances of their neighbours are the plain ones", hu_format_name(f.id));
	}
	return done_testing();
}
