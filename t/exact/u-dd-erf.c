/* SPDX-License-Identifier: Apache-2.0
   The error function of double-doubles beside MPFR: every value lies within its bound, and bounds are small, over
   operands of all sizes, the centres of the series and the points half-way between them. */
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

	return hu_random_at(1, 9, 0, i).w[0] * 0x1p-32;
}

/* The largest error over its bound, and the largest bound over 1 and over |erf x|. */
typedef struct found { double broken, absolute, relative; } found;

static void
try(found *f, hu_dd x)
{
	hu_dd y = hu_dd_erf(x);
	mpfr_t exact, off;

	mpfr_inits2(400, exact, off, (mpfr_ptr)0);
	mpfr_set_d(exact, x.h, MPFR_RNDN);
	mpfr_add_d(exact, exact, x.l, MPFR_RNDN);
	mpfr_erf(exact, exact, MPFR_RNDN);
	mpfr_sub_d(off, exact, y.h, MPFR_RNDN);
	mpfr_sub_d(off, off, y.l, MPFR_RNDN);
	double error = fabs(mpfr_get_d(off, MPFR_RNDA)), size = fabs(y.h);
	if (error != 0)
		f->broken = fmax(f->broken, y.e > 0 ? error / y.e : INFINITY);
	if (!(y.e < INFINITY) || hu_dd_sum(y.h, y.l, &error) != y.h)
		f->broken = INFINITY;
	f->absolute = fmax(f->absolute, y.e);
	f->relative = fmax(f->relative, size > 0 ? y.e / size : 0);
	mpfr_clears(exact, off, (mpfr_ptr)0);
}

static void
judge(const found *f, const char *what, double most)
{
	ok(f->broken <= 1, "%s: the largest error is %.3g of its bound", what, f->broken);
	ok(f->absolute <= 0x1p-95, "%s: the largest bound is 2^%.1f", what, log2(f->absolute));
	if (most < INFINITY)
		ok(f->relative <= most, "%s: and 2^%.1f of its value", what, log2(f->relative));
}

/* H with a trailing part of up to half an ulp in half of the cases. */
static hu_dd
pair(double h)
{
	hu_dd x = { h, 0, 0 };
	double l = fraction() < 0.5 ? 0 : (fraction() - 0.5) * 0x1p-53 * h;

	x.h = hu_dd_sum(h, l, &x.l);
	return x;
}

static void
sizes(void)
{
	found usual = { 0, 0, 0 }, small = usual, far = usual, centres = usual;

	for (int i = 0; i < 20000; i++) {
		double x = (1 + fraction() + fraction() * 0x1p-32) * (i & 1 ? 1 : -1);
		try(&usual, pair(ldexp(x, (int)(fraction() * 5) - 3)));
		try(&small, pair(ldexp(x, -4 - (int)(fraction() * 800))));
	}
	for (int i = 0; i < 2000; i++)
		try(&far, pair((i & 1 ? 1 : -1) * (3 + 8 * fraction())));
	for (int i = 0; i <= 640; i++)
		for (int k = -2; k <= 2; k++) {
			double x = i / 64.0;
			for (int s = k; s != 0; s += s < 0 ? 1 : -1)
				x = nextafter(x, s < 0 ? -INFINITY : INFINITY);
			try(&centres, pair(x));
			try(&centres, (hu_dd){ i / 64.0, i ? k * 0x1p-60 * i / 64 : 0, 0 });
		}
	judge(&usual, "from 1/8 to 4", 0x1p-94);
	judge(&small, "below 1/8", 0x1p-94);
	judge(&far, "from 3 to 11", 0x1p-94);
	judge(&centres, "centres and the points between them", INFINITY); /* subnormals have bounds of their size */
}

static void
corners(void)
{
	hu_dd zero = hu_dd_erf(hu_dd_of(0)), off = hu_dd_erf((hu_dd){ 0.5, 0, 0x1p-60 }), at = hu_dd_erf(hu_dd_of(0.5));

	ok(zero.h == 0 && zero.l == 0 && zero.e == 0, "erf(0) is exactly 0");
	ok(signbit(hu_dd_erf(hu_dd_of(-0.0)).h), "erf(-0) is -0");
	ok(off.h == at.h && off.l == at.l && off.e > 0x1p-60 && off.e < 0x1p-59, "the operand's own error counts");
	ok(hu_dd_erf(hu_dd_of(INFINITY)).h == 1 && hu_dd_erf(hu_dd_of(-INFINITY)).h == -1 &&
			hu_dd_erf((hu_dd){ INFINITY, NAN, 0 }).e == INFINITY && hu_dd_erf(hu_dd_of(NAN)).e == INFINITY,
		"infinity itself has its limits; nothing is said of what left double's range, and of NaN");
	ok(hu_dd_erf(hu_dd_of(NAN)).e == INFINITY, "nor of NaN");
	ok(hu_dd_erf(hu_dd_of(-300)).h == -1 && hu_dd_erf(hu_dd_of(-300)).e > 0, "far below 0 it is nearly -1");
}

int
main(void)
{
	sizes();
	corners();
	return done_testing();
}
