/* SPDX-License-Identifier: Apache-2.0
   The double-double screen (t/oracle/dd-elementary.h) against MPFR at 300 bits: points of every exponent, in
   the middle and at the edges of a block of 1024 floats. Then the fp32 elementary functions through it, on a
   share of all floats; t/number/elementary/x-number-elementary.c takes the rest. The seed is fixed. */
#include "lib/number/philox.h"
#include "t/oracle/dd-elementary.h"
#include "t/oracle/screen.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>

enum { POINTS = 4000, EVERY = 2048, HALF = 512 };

static int
mpfr_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd)
{
	mpfr_neg(y, x, rnd);
	mpfr_exp(y, y, rnd);
	mpfr_add_ui(y, y, 1, rnd);
	return mpfr_ui_div(y, 1, y, rnd);
}

#define mpfr_erf_small mpfr_erf
#define mpfr_erf_large mpfr_erf
#define mpfr_erfc_small mpfr_erfc
#define mpfr_erfc_large mpfr_erfc
#define mpfr_erfc_negative mpfr_erfc
#define mpfr_rsqrt mpfr_rec_sqrt
#define mpfr_sin_small mpfr_sin
#define mpfr_sin_large mpfr_sin
#define mpfr_cos_small mpfr_cos
#define mpfr_cos_large mpfr_cos

/* Uniform, or any exponent, or near one. */
static float
point(double low, double high, unsigned i)
{
	hu_random r = hu_random_at(20260301, 4, 0, i);
	double u = hu_uniform(r), top = high > 1000 ? 1000 : high;

	switch (i % 3) {
	case 0: return (float)(low + u * (top - low));
	case 1: return hu_from_bits32(r.w[2]);
	default:
		return (float)((r.w[3] & 1 ? -1 : 1) *
			       (hu_pow2((int)(r.w[2] % 40) - 30) * (1 + u * hu_pow2(-(int)(r.w[3] >> 1) % 24))));
	}
}

static double
relative(dd got, const mpfr_t exact)
{
	mpfr_t d;
	double e;

	mpfr_init2(d, 300);
	mpfr_sub_d(d, exact, got.hi, MPFR_RNDN);
	mpfr_sub_d(d, d, got.lo, MPFR_RNDN);
	mpfr_div(d, d, exact, MPFR_RNDN);
	e = fabs(mpfr_get_d(d, MPFR_RNDA));
	mpfr_clear(d);
	return e;
}

typedef struct screened {
	const char *name;
	dd (*value)(double x, const dd_near *near);
	int (*block)(dd_near *near, double a, double c, double b);
	int (*judge)(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd); double low, high;
} screened;

#define DD_FUNCTION(name, kind, low, high) \
	static dd value_##name(double x, const dd_near *near) { return dd_##name(x, near); }
DD_FUNCTIONS
#undef DD_FUNCTION

static const screened functions[] = {
#define DD_FUNCTION(name, kind, low, high) { #name, value_##name, dd_near_##kind, mpfr_##name, low, high },
	DD_FUNCTIONS
#undef DD_FUNCTION
};

static int
inside(const screened *s, double x)
{
	if (!(x > s->low && x < s->high) || x == 0)
		return 0;
	int large = s->value == value_erf_large || s->value == value_sin_large || s->value == value_cos_large;
	return !large || fabs(x) >= 0.5;
}

static void
test_function(const screened *s)
{
	double worst = 0, at = 0;
	long n = 0; /* blocks that are too wide are few */
	mpfr_t x, y;

	mpfr_inits2(300, x, y, (mpfr_ptr)0);
	for (unsigned i = 0; i < POINTS; i++) {
		float middle = point(s->low, s->high, i);
		uint32_t block = hu_bits32(middle) & ~(2u * HALF - 1);
		double edge[3] = { hu_from_bits32(block), middle, hu_from_bits32(block + 2 * HALF - 1) };
		dd_near near;
		if (!inside(s, edge[0]) || !inside(s, edge[2]) ||
			!s->block(&near, edge[0], hu_from_bits32(block + HALF), edge[2]))
			continue;
		for (int k = 0; k < 3; k++) {
			double e;
			mpfr_set_d(x, edge[k], MPFR_RNDN);
			s->judge(y, x, MPFR_RNDN);
			e = relative(s->value(edge[k], &near), y);
			if (!(e <= worst)) {
				worst = e;
				at = edge[k];
			}
			n++;
		}
	}
	mpfr_clears(x, y, (mpfr_ptr)0);
	ok(n > POINTS / 3 && worst < DD_ELEMENTARY_ERROR, "%s: %ld points, relative error at most 2^%.2f, at %a",
		s->name, n, log2(worst), at);
}

/* One chunk of 2^16 floats in EVERY, and those where functions bend or end. */
static void
test_share(int i)
{
	static const float corners[] = { 0.0f, 0x1p-126f, 0x1p-25f, 0x1p-24f, 0x1p-12f, 0.5f, 0x1.fep-1f, 1.0f, 2.0f,
		4.0f, 9.0f, 10.0f, 16.0f, 88.0f, 89.0f, 103.5f, 0x1p127f, INFINITY };
	screen_tally all = { 0, 0, 0, 0, 0, 0, 0 };

	for (uint32_t c = 0; c < 65536 / EVERY; c++)
		screen_chunk(i, (c * EVERY + hu_random_at(20260301, 5, 0, c).w[0] % EVERY) << 16, &all);
	for (size_t k = 0; k < sizeof corners / sizeof *corners; k++)
		for (uint32_t sign = 0; sign < 2; sign++)
			screen_chunk(i, (hu_bits32(corners[k]) & 0xffff0000u) | sign << 31, &all);
	is_int(all.wrong, 0,
		"%s of %lld floats within 0.51 ulp: at most %.9f near %a; not the nearest float: %lld; by MPFR %lld",
		screen_name(i), all.constant + all.screened, all.worst, (double)hu_from_bits32(all.at), all.misrounded,
		all.judged);
}

int
main(void)
{
	double left = dd_constants_init();

	ok(left < 0x1p-85, "the expansions of exp(x^2) erfc(x) leave 2^%.1f", log2(left));
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		test_function(&functions[i]);
	for (int i = 0; i < screen_functions(); i++)
		test_share(i);
	mpfr_free_cache();
	return done_testing();
}
