/* SPDX-License-Identifier: Apache-2.0
   The elementary functions of all 2^32 floats: each result is within 0.51 ulp
   of the exact one. The C library's double function, which is wrong by a few
   units of 2^-53 at most, screens; what it cannot settle with 2^-40 to spare
   goes to MPFR, and so does one input in 2^16. */
#include "lib/number/elementary.h"
#include "lib/number/ulp.h"
#include "t/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

static double c_sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double c_rsqrt(double x) { return 1 / sqrt(x); }

static int
m_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd)
{
	mpfr_neg(y, x, rnd);
	mpfr_exp(y, y, rnd);
	mpfr_add_ui(y, y, 1, rnd);
	return mpfr_ui_div(y, 1, y, rnd);
}

typedef struct function {
	const char *name;
	float (*mine)(float x);
	double (*screen)(double x);
	int (*judge)(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd);
} function;

static const function functions[] = {
	{ "exp", hu_exp_f32, exp, mpfr_exp }, { "expm1", hu_expm1_f32, expm1, mpfr_expm1 }, { "log", hu_log_f32, log, mpfr_log },
	{ "log1p", hu_log1p_f32, log1p, mpfr_log1p }, { "tanh", hu_tanh_f32, tanh, mpfr_tanh }, { "sigmoid", hu_sigmoid_f32, c_sigmoid, m_sigmoid },
	{ "rsqrt", hu_rsqrt_f32, c_rsqrt, mpfr_rec_sqrt }, { "erf", hu_erf_f32, erf, mpfr_erf }, { "erfc", hu_erfc_f32, erfc, mpfr_erfc },
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* |got - y| in ulps of fp32 by MPFR at 120 bits; an overflow counts from the value that would follow the largest. */
static double
judged(const function *f, float x, float got)
{
	mpfr_t a, y;
	double e;
	int special;

	mpfr_init2(a, 24);
	mpfr_init2(y, 120);
	mpfr_set_flt(a, x, MPFR_RNDN);
	f->judge(y, a, MPFR_RNDN);
	special = !mpfr_number_p(y);
	double near = mpfr_get_d(y, MPFR_RNDN), worth = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
	mpfr_sub_d(y, y, worth, MPFR_RNDN);
	e = fabs(mpfr_get_d(y, MPFR_RNDN));
	mpfr_clears(a, y, (mpfr_ptr)0);
	if (special)
		return isnan(near) ? (isnan(got) ? 0 : INFINITY) : near == (double)got ? 0 : INFINITY;
	if (fabs(near) >= 0x1p128)
		return isinf(got) && (got > 0) == (near > 0) ? 0 : INFINITY;
	return hu_times_pow2(e, -hu_ulp_exponent(near, hu_format_of(HU_FP32)));
}

typedef struct tally { long wrong, misrounded, judged; double worst; float at; } tally;

static void
chunk(const function *f, uint32_t first, tally *t)
{
	for (uint32_t k = 0; k < CHUNK; k++) {
		float x = hu_from_bits32(first + k), got = f->mine(x);
		double near = f->screen((double)x), e;
		if (isnan(x)) {
			t->wrong += hu_bits32(got) != 0x7fc00000u && !isnan(got);
			continue;
		}
		if (hu_bits32(got) == hu_bits32((float)near)) { /* the same as the screen's result rounded: 0.5 ulp and a hair */
			if (k != (first >> 16) % CHUNK)
				continue;
		} else if (!(x == 0 && f->judge == mpfr_rec_sqrt)) {
			t->misrounded++;
		}
		t->judged++;
		if (x == 0 && f->judge == mpfr_rec_sqrt) { /* MPFR says +Inf for both zeros */
			t->wrong += hu_bits32(got) != hu_bits32(copysignf(INFINITY, x));
			continue;
		}
		e = judged(f, x, got);
		if (!(e <= t->worst)) {
			t->worst = e;
			t->at = x;
		}
		t->wrong += !(e <= 0.51);
	}
}

int
main(int argc, char **argv)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		tally all = { 0, 0, 0, 0, 0 };
		if (argc > 1 && strcmp(argv[1], functions[i].name))
			continue;
#pragma omp parallel for schedule(dynamic, 16)
		for (uint32_t c = 0; c < 1u << 16; c++) {
			tally t = { 0, 0, 0, 0, 0 };
			chunk(&functions[i], c << 16, &t);
#pragma omp critical
			{
				all.wrong += t.wrong;
				all.misrounded += t.misrounded;
				all.judged += t.judged;
				if (!(t.worst <= all.worst)) {
					all.worst = t.worst;
					all.at = t.at;
				}
			}
		}
		is_int(all.wrong, 0, "%s of all 2^32 floats within 0.51 ulp: worst of the %ld judged by MPFR %.9f at %a; %ld unlike the C library's double", functions[i].name,
		       all.judged, all.worst, (double)all.at, all.misrounded);
	}
	mpfr_free_cache();
	return done_testing();
}
