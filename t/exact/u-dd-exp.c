/* SPDX-License-Identifier: Apache-2.0
   The exponential function of double-doubles beside MPFR: the exponentials of all numbers that an operand's error
   permits lie within the bound, and bounds of exact operands are small, over operands of all sizes, the centres of the
   reduction and the points half-way between them. */
#include "lib/exact/dd/dd.h"

#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>

static uint64_t drawn;

static double
fraction(void)
{
	uint64_t i = drawn++;

	return hu_random_at(2, 9, 0, i).w[0] * 0x1p-32;
}

/* The largest error over its bound, and the largest bound over the value, of those above 2^-900. */
typedef struct found { double broken, relative; } found;

/* How far exp(x.h + x.l + off) is from y, over y's bound. */
static double
broken(hu_dd x, double off, hu_dd y)
{
	mpfr_t exact;

	mpfr_init2(exact, 1400); /* for operands as small as 2^-1000 beside 1 */
	mpfr_set_d(exact, x.h, MPFR_RNDN);
	mpfr_add_d(exact, exact, x.l, MPFR_RNDN);
	mpfr_add_d(exact, exact, off, MPFR_RNDN);
	mpfr_exp(exact, exact, MPFR_RNDN);
	mpfr_sub_d(exact, exact, y.h, MPFR_RNDN);
	mpfr_sub_d(exact, exact, y.l, MPFR_RNDN);
	double error = fabs(mpfr_get_d(exact, MPFR_RNDA));
	mpfr_clear(exact);
	return error == 0 ? 0 : y.e > 0 ? error / y.e : INFINITY;
}

static void
try(found *f, hu_dd x)
{
	hu_dd y = hu_dd_exp(x);
	double t;

	f->broken = fmax(f->broken, broken(x, 0, y));
	if (x.e != 0)
		f->broken = fmax(f->broken, fmax(broken(x, x.e, y), broken(x, -x.e, y)));
	if (!(y.e < INFINITY) || hu_dd_sum(y.h, y.l, &t) != y.h)
		f->broken = INFINITY;
	if (y.h > 0x1p-900)
		f->relative = fmax(f->relative, y.e / y.h);
}

static void
judge(const found *f, const char *what, double most)
{
	ok(f->broken <= 1, "%s: the largest error is %.3g of its bound", what, f->broken);
	ok(f->relative <= most, "%s: and the largest bound 2^%.1f of its value", what, log2(f->relative));
}

/* h with a trailing part of up to half an ulp in half of the cases. */
static hu_dd
pair(double h)
{
	hu_dd x = { h, 0, 0 };
	double l = fraction() < 0.5 ? 0 : (fraction() - 0.5) * 0x1p-53 * h;

	x.h = hu_dd_sum(h, l, &x.l);
	return x;
}

int
main(void)
{
	found usual = { 0, 0 }, small = usual, far = usual, centres = usual, off = usual;

	for (int i = 0; i < 4000; i++) {
		double x = (1 + fraction() + fraction() * 0x1p-32) * (i & 1 ? 1 : -1);
		try(&usual, pair(ldexp(x, (int)(fraction() * 8) - 4)));
		try(&small, pair(ldexp(x, -5 - (int)(fraction() * 900))));
		try(&far, pair(1440 * fraction() - 741));
		hu_dd y = pair(ldexp(x, (int)(fraction() * 12) - 8));
		y.e = ldexp(fraction(), -11 - (int)(fraction() * 90));
		try(&off, y);
	}
	for (int i = -1024; i <= 1024; i++) /* centres and the points between them, on both sides */
		for (int k = -1; k <= 1; k++)
			try(&centres, pair(i * 0x1.62e42fefa39efp-10 * (1 + k * 0x1p-30)));
	judge(&usual, "from 1/16 to 16", 0x1p-98);
	judge(&small, "tiny", 0x1p-98);
	judge(&far, "to the ends of double's range", 0x1p-93);
	judge(&centres, "at centres and between them", 0x1p-98);
	judge(&off, "of operands with an error", 0x1p-10);
	hu_dd one = hu_dd_exp(hu_dd_of(0)), none = hu_dd_exp((hu_dd){ -1e9, 0, 1 }), odd = hu_dd_exp(hu_dd_of(NAN));
	ok(one.h == 1 && one.l == 0 && one.e == 0, "exp(0) is 1 exactly");
	ok(none.h == 0 && none.e <= 0x1p-1060, "exp(-1e9) is 0 within 2^-1060");
	ok(!(odd.e < INFINITY) && !(hu_dd_exp(hu_dd_of(701)).e < INFINITY), "nothing is said of NaN, nor beyond e^700");
	return done_testing();
}
