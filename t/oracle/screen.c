/* SPDX-License-Identifier: Apache-2.0
   A block of neighbouring floats goes through a function and through its double-double
   version in vector loops, one for each instruction set, which tell errors in ulps. */
#include "t/oracle/screen.h"

#include "lib/base/inline.h"
#include "lib/number/elementary/elementary.h"
#include "lib/number/simd.h"
#include "t/oracle/dd-elementary.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { BLOCK = 1 << 10, PREC = 128, MOST = 400 };

/* What a screen cannot tell from the middle of two floats: 2^-80 2^24 ulp of its own, and the two roundings of
   a difference of about half an ulp of fp32. */
#define OPEN 0x1p-50

static int
mpfr_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd)
{
	mpfr_neg(y, x, rnd);
	mpfr_exp(y, y, rnd);
	mpfr_add_ui(y, y, 1, rnd);
	return mpfr_ui_div(y, 1, y, rnd);
}

typedef struct found { int open, misrounded; double worst; } found;
typedef void screen(const uint32_t *x, const float *got, found *f, uint8_t *is_open);

/* The error of BLOCK results in ulps. Overflow counts from 2^128. A result that is not
   finite, or far off, has a large error and is open. */
HU_INLINE void
compare(const double *hi, const double *lo, const float *got, found *f, uint8_t *is_open)
{
	int open = 0, misrounded = 0;
	uint64_t worst = 0; /* a bit pattern: the order is that of the non-negative values */

#pragma omp simd reduction(+ : open, misrounded) reduction(max : worst)
	for (int k = 0; k < BLOCK; k++) {
		double binade = hu_from_bits64(hu_bits64(hi[k]) & 0x7ff0000000000000u), e;
		binade = binade < 0x1p-126 ? 0x1p-126 : binade;
		e = fabs((hi[k] - (double)got[k]) + lo[k]) / binade * 0x1p23;
		int near = e < 0.5 - OPEN, off = e > 0.5 + OPEN, bad = !(near | (off & (e < 0.51 - OPEN)));
		uint64_t w = bad ? 0 : hu_bits64(e);
		is_open[k] = (uint8_t)bad;
		open += bad;
		misrounded += off & !bad;
		worst = w > worst ? w : worst;
	}
	f->open = open;
	f->misrounded = misrounded;
	f->worst = hu_from_bits64(worst);
}

/* Where the screen's bounds do not hold: fp32's smallest subnormals, and 1 + x near 0. */
static void
all_open(found *f, uint8_t *is_open)
{
	memset(is_open, 1, BLOCK);
	f->open = BLOCK;
	f->misrounded = 0;
	f->worst = 0;
}

#define SCREEN(isa, name, kind) \
	static ISA_##isa void \
	screen_##isa##_##name(const uint32_t *x, const float *got, found *f, uint8_t *is_open) \
	{ \
		double hi[BLOCK], lo[BLOCK]; \
		dd_near near; \
		if (!dd_near_##kind(&near, (double)hu_from_bits32(x[0]), (double)hu_from_bits32(x[BLOCK / 2]), \
			(double)hu_from_bits32(x[BLOCK - 1]))) { \
			all_open(f, is_open); \
			return; \
		} \
		_Pragma("omp simd") \
		for (int k = 0; k < BLOCK; k++) { \
			dd y = dd_##name((double)hu_from_bits32(x[k]), &near); \
			hi[k] = y.hi; \
			lo[k] = y.lo; \
		} \
		compare(hi, lo, got, f, is_open); \
	}

#define ISA_plain
#define DD_FUNCTION(name, kind, low, high) SCREEN(plain, name, kind)
DD_FUNCTIONS
#undef DD_FUNCTION
#if defined(__x86_64__)
#define ISA_avx2 __attribute__((target("avx2,fma")))
#if defined(__clang__)
#define ISA_avx512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma")))
#else
#define ISA_avx512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512")))
#endif
#define DD_FUNCTION(name, kind, low, high) SCREEN(avx2, name, kind) SCREEN(avx512, name, kind)
DD_FUNCTIONS
#undef DD_FUNCTION
#define ROW(name) { screen_plain_##name, screen_avx2_##name, screen_avx512_##name }
#else
#define ROW(name) { screen_plain_##name, screen_plain_##name, screen_plain_##name }
#endif

typedef struct function {
	const char *name;
	float (*mine)(float x);
	int (*judge)(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd);
	screen *small[3], *large[3], *negative[3]; /* for |x| < 1/2, x >= 1/2, x <= -1/2 */
} function;

static const function functions[] = {
	{ "exp", hu_exp_f32, mpfr_exp, ROW(exp), ROW(exp), ROW(exp) },
	{ "expm1", hu_expm1_f32, mpfr_expm1, ROW(expm1), ROW(expm1), ROW(expm1) },
	{ "log", hu_log_f32, mpfr_log, ROW(log), ROW(log), ROW(log) },
	{ "log1p", hu_log1p_f32, mpfr_log1p, ROW(log1p), ROW(log1p), ROW(log1p) },
	{ "tanh", hu_tanh_f32, mpfr_tanh, ROW(tanh), ROW(tanh), ROW(tanh) },
	{ "sigmoid", hu_sigmoid_f32, mpfr_sigmoid, ROW(sigmoid), ROW(sigmoid), ROW(sigmoid) },
	{ "rsqrt", hu_rsqrt_f32, mpfr_rec_sqrt, ROW(rsqrt), ROW(rsqrt), ROW(rsqrt) },
	{ "erf", hu_erf_f32, mpfr_erf, ROW(erf_small), ROW(erf_large), ROW(erf_large) },
	{ "erfc", hu_erfc_f32, mpfr_erfc, ROW(erfc_small), ROW(erfc_large), ROW(erfc_negative) },
	{ "sin", hu_sin_f32, mpfr_sin, ROW(sin_small), ROW(sin_large), ROW(sin_large) },
	{ "cos", hu_cos_f32, mpfr_cos, ROW(cos_small), ROW(cos_large), ROW(cos_large) },
};

/* sin and cos are monotone up to 1.5 only. */
#define MONOTONE 1.5

static int
turns(const function *f)
{
	return f->judge == mpfr_sin || f->judge == mpfr_cos;
}

int
screen_functions(void)
{
	return sizeof functions / sizeof *functions;
}

const char *
screen_name(int i)
{
	return functions[i].name;
}

/* One result by MPFR at PREC bits: the nearest float, and *ulps, GOT's error. 0 where PREC does not
   settle the nearest: y is then within two ulps of fp64 of a middle. */
static int
settled(const function *f, uint32_t x, uint32_t got, mpfr_prec_t prec, float *nearest, double *ulps)
{
	mpfr_t a, y, d;
	double g = (double)hu_from_bits32(got), low, high;

	mpfr_inits2(prec, a, y, d, (mpfr_ptr)0);
	mpfr_set_flt(a, hu_from_bits32(x), MPFR_RNDN);
	f->judge(y, a, MPFR_RNDN);
	if (mpfr_inf_p(y) && (x << 1) == 0 &&
		f->judge == mpfr_rec_sqrt) /* MPFR says +Inf for both zeros, IEEE 754 has the sign */
		mpfr_set_inf(y, x >> 31 ? -1 : 1);
	low = mpfr_get_d(y, MPFR_RNDD);
	high = mpfr_get_d(y, MPFR_RNDU);
	*nearest = mpfr_nan_p(y) ? hu_from_bits32(0x7fc00000u) : (float)low;
	if (!mpfr_regular_p(y) || isinf(*nearest)) {
		*ulps = hu_bits32(*nearest) == got ? 0 : INFINITY;
	} else {
		int e = (int)mpfr_get_exp(y) - 1;
		mpfr_sub_d(d, y, isinf(g) ? copysign(0x1p128, g) : g, MPFR_RNDN);
		mpfr_mul_2si(d, d, 23 - (e < -126 ? -126 : e), MPFR_RNDN);
		*ulps = isnan(g) ? INFINITY : fabs(mpfr_get_d(d, MPFR_RNDA));
	}
	if (mpfr_regular_p(y) && prec >= MOST) { /* to odd: a second rounding is then as good as one */
		low = mpfr_get_d(y, MPFR_RNDZ);
		mpfr_sub_d(d, y, low, MPFR_RNDN);
		high = low = isfinite(low) && !mpfr_zero_p(d) ? hu_from_bits64(hu_bits64(low) | 1) : low;
		*nearest = (float)low;
	} else if (mpfr_regular_p(y)) {
		low = nextafter(low, -INFINITY);
		high = nextafter(high, INFINITY);
	}
	mpfr_clears(a, y, d, (mpfr_ptr)0);
	return isnan(low) || hu_bits32((float)low) == hu_bits32((float)high);
}

static uint32_t
judged(const function *f, uint32_t x, uint32_t got, double *ulps)
{
	float nearest;

	if (!settled(f, x, got, PREC, &nearest, ulps))
		settled(f, x, got, MOST, &nearest, ulps);
	return hu_bits32(nearest);
}

static void
worse(screen_tally *t, double ulps, uint32_t x)
{
	if (!(ulps <= t->worst)) {
		t->worst = ulps;
		t->at = x;
	}
}

static void
by_mpfr(const function *f, uint32_t x, uint32_t got, screen_tally *t)
{
	double ulps;
	uint32_t nearest = judged(f, x, got, &ulps);

	t->judged++;
	t->misrounded += nearest != got;
	t->wrong += !(ulps <= 0.51);
	worse(t, ulps, x);
}

static int
level(void)
{
	return hu_simd_has(HU_SIMD_AVX512) ? 2 : hu_simd_has(HU_SIMD_AVX2) ? 1 : 0;
}

void
screen_chunk(int i, uint32_t first, screen_tally *t)
{
	const function *f = &functions[i];
	uint32_t x[BLOCK], low, high;
	float got[BLOCK];
	uint8_t is_open[BLOCK];
	double ulps;

	by_mpfr(f, first, hu_bits32(f->mine(hu_from_bits32(first))),
		t); /* a zero, an infinity, -1: where functions jump */
	low = judged(f, first + 1, 0, &ulps);
	high = judged(f, first + SCREEN_CHUNK - 1, 0, &ulps);
	for (uint32_t b = 0; b < SCREEN_CHUNK; b += BLOCK) {
		double a = fabs((double)hu_from_bits32(first));
		screen *const *row = a < 0.5 ? f->small : first >> 31 ? f->negative : f->large;
		found r = { 0, 0, 0 };
		for (uint32_t k = 0; k < BLOCK; k++) {
			x[k] = first + b + k;
			got[k] = f->mine(hu_from_bits32(x[k]));
		}
		for (uint32_t k = 0; turns(f) && !(first >> 31) && k < BLOCK; k++) {
			uint32_t other = hu_bits32(f->mine(-hu_from_bits32(x[k])));
			int odd = f->judge == mpfr_sin && got[k] == got[k];
			t->wrong += hu_bits32(got[k]) != (odd ? other ^ 1u << 31 : other);
		}
		if (f->judge == mpfr_sin && a < 0x1p-12) { /* |sin x - x| < |x|^3 / 6 < 2^-26 |x|: x is the nearest */
			for (uint32_t k = b == 0; k < BLOCK; k++)
				if (hu_bits32(got[k]) != x[k])
					by_mpfr(f, x[k], hu_bits32(got[k]), t);
			t->constant += BLOCK - (b == 0);
			continue;
		}
		if (low == high && (a < MONOTONE || !(a < INFINITY) || !turns(f))) {
			for (uint32_t k = b == 0; k < BLOCK; k++)
				if (hu_bits32(got[k]) != low)
					by_mpfr(f, x[k], hu_bits32(got[k]), t);
			t->constant += BLOCK - (b == 0);
			continue;
		}
		row[level()](x, got, &r, is_open);
		t->screened += BLOCK - r.open;
		t->misrounded += r.misrounded;
		worse(t, r.worst, x[0]);
		for (uint32_t k = 0; r.open && k < BLOCK; k++)
			if (is_open[k] && b + k)
				by_mpfr(f, x[k], hu_bits32(got[k]), t);
	}
}

int
screen_mirrors(int i)
{
	return turns(&functions[i]);
}

void
screen_add(screen_tally *all, const screen_tally *t)
{
	all->constant += t->constant;
	all->screened += t->screened;
	all->judged += t->judged;
	all->misrounded += t->misrounded;
	all->wrong += t->wrong;
	worse(all, t->worst, t->at);
}
