/* SPDX-License-Identifier: Apache-2.0
   Models of processors' units for bf16 and fp16: each against MPFR's exact results, rounded and flushed as the manual
   says; and those whose instruction this processor has against the instruction, on a million drawn sums. */
#include "lib/number/code.h"
#include "lib/exact/dot.h"
#include "lib/number/philox.h"
#include "lib/sum/model/row.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70, WIDE = 700 };

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_word(20261129, 1, 0, counter++);
}

/* A value of f: of ordinary size; any finite or other code; subnormal; with a product about 2^-126 or, of fp16, 2^-14;
   large; a power of two. */
static double
value(hu_format f, int kind)
{
	double u = (double)bits() * 0x1p-32, s = bits() & 1 ? -1 : 1;
	int span = f.emax - f.emin;

	switch (kind) {
	case 0: return hu_round(s * (1 + u), f, HU_RNE, 0, 0);
	case 1:
		if (bits() % 16 == 0)
			return bits() % 3 == 0 ? hu_nan() : hu_inf(bits() & 1);
		return hu_round(s * (1 + u) * hu_pow2(f.emin - f.p + (int)(bits() % (uint32_t)(span + f.p))), f, HU_RZ,
			HU_SATURATE, 0);
	case 2: return hu_round(s * u * hu_pow2(bits() % 3 ? f.emin : f.emin / 4), f, HU_RNE, 0, 0);
	case 3: return hu_round(s * (1 + u) * hu_pow2(f.emin / 2 - (int)(bits() % 3)), f, HU_RNE, 0, 0);
	case 4: return hu_round(s * (1 + u) * hu_pow2(f.emax / 2), f, HU_RNE, HU_SATURATE, 0);
	default: return s * hu_pow2((int)(bits() % 12) - 6);
	}
}

/* Draws n products. A sum that is about 2^-126, where flushing is decided, begins with 2^-126 and takes away little. */
static void
draw(double *a, double *b, size_t n, hu_format f)
{
	int kind = (int)(bits() % 7);

	for (size_t k = 0; k < n; k++) {
		a[k] = value(f, kind < 6 ? kind : 0);
		b[k] = value(f, kind < 6 ? kind : 0);
		if (kind == 6 && f.id == HU_BF16) {
			a[k] = k == 1 ? 0x1p-63 : a[k] * 0x1p-76;
			b[k] = k == 1 ? 0x1p-63 : b[k] * 0x1p-76;
		}
	}
}

static int
equal(double a, double b)
{
	return a != a ? b != b : bits_of_double(a) == bits_of_double(b);
}

static double
zeroed(double x)
{
	return fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

/* a b + c of fp32's precision, without an end of the exponents until it is flushed or overflows. odd: as Arm's BFRound,
   which looks at the exponent before it rounds, to odd; else as x86, to nearest even. */
static double
flushed(double a, double b, double c, int odd)
{
	mpfr_t x, y, z;
	double r, plain = a * b + c;

	if (!isfinite(a) || !isfinite(b) || !isfinite(c) || (plain == 0 && (a == 0 || b == 0)))
		return plain;
	mpfr_inits2(WIDE, x, y, (mpfr_ptr)0);
	mpfr_init2(z, 24);
	mpfr_set_d(x, a, MPFR_RNDN);
	mpfr_mul_d(x, x, b, MPFR_RNDN);
	mpfr_add_d(x, x, c, MPFR_RNDN);
	int sign = mpfr_signbit(x), early = mpfr_cmpabs_ui(x, 0) && mpfr_get_exp(x) - 1 < -126;
	if (mpfr_zero_p(x)) {
		r = plain;
	} else {
		int inexact = mpfr_set(z, x, odd ? MPFR_RNDZ : MPFR_RNDN);
		mpfr_mul_2si(y, z, 24 - mpfr_get_exp(z), MPFR_RNDN);
		if (odd && inexact && mpfr_fits_slong_p(y, MPFR_RNDN) && mpfr_get_si(y, MPFR_RNDN) % 2 == 0)
			sign ? mpfr_nextbelow(z) : mpfr_nextabove(z);
		if (odd ? early : mpfr_get_exp(z) - 1 < -126)
			r = sign ? -0.0 : 0;
		else
			r = mpfr_get_exp(z) > 128 ? hu_inf(sign) : mpfr_get_d(z, MPFR_RNDN);
	}
	mpfr_clears(x, y, z, (mpfr_ptr)0);
	return r;
}

static double
by_vdpbf16ps(const double *a, const double *b, size_t n)
{
	double acc = 0;

	for (size_t k = 0; k < n; k += 2) {
		acc = flushed(k + 1 < n ? zeroed(a[k + 1]) : 0, k + 1 < n ? zeroed(b[k + 1]) : 0, acc, 0);
		acc = flushed(zeroed(a[k]), zeroed(b[k]), acc, 0);
	}
	return acc;
}

static double
by_tdpbf16ps(const double *a, const double *b, size_t n)
{
	double acc = 0;

	for (size_t k = 0; k < n; k += 32) {
		double half[2] = { 0, 0 };
		for (size_t i = 0; i < 32 && k + i < n; i++)
			half[i & 1] = flushed(zeroed(a[k + i]), zeroed(b[k + i]), half[i & 1], 0);
		acc = flushed(1, acc, flushed(1, half[0], half[1], 0), 0);
	}
	return acc;
}

static double
by_bfdot(const double *a, const double *b, size_t n)
{
	double acc = 0;

	for (size_t k = 0; k < n; k += 2) {
		double p = flushed(zeroed(a[k]), zeroed(b[k]), 0, 1), q = 0;
		if (k + 1 < n)
			q = flushed(zeroed(a[k + 1]), zeroed(b[k + 1]), 0, 1);
		acc = flushed(1, acc, flushed(1, p, q, 1), 1);
	}
	return acc;
}

static hu_sum
parsed(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK)
		bail_out("%s", hu_reason());
	return s;
}

static void
against_mpfr(const char *text, double (*reference)(const double *, const double *, size_t))
{
	enum { SUMS = 20000 };
	hu_sum s = parsed(text);
	int differ = 0, moved = 0, zeros = 0, special = 0;

	for (int i = 0; i < SUMS; i++) {
		double a[MOST], b[MOST];
		size_t n = 1 + bits() % (i % 8 ? 12 : MOST);
		draw(a, b, n, hu_format_of(HU_BF16));
		double got = hu_model_run(a, b, n, s, NULL, NULL), want = reference(a, b, n);
		if (!equal(got, want) && got == 0 && want == 0) /* the sign of a sum that cancels is not promised */
			got = want;
		differ += !equal(got, want);
		moved += isfinite(got) && got != 0;
		zeros += got == 0;
		special += !isfinite(got);
	}
	ok(!differ && moved > SUMS / 3 && zeros > SUMS / 100 && special > SUMS / 50,
		"%s: of %d sums (%d finite, %d zero, %d infinite or NaN) %d differ from the manual's by MPFR", text,
		SUMS, moved, zeros, special, differ);
}

/* Errors against the exact sums, from +0 and from a start value, are within the bounds of the operands, subnormal ones
   among them; and bounds are not all far above the errors. */
static void
within_bounds(const char *text, hu_format_id in)
{
	enum { SUMS = 20000 };
	hu_sum s = parsed(text);
	if (hu_sum_resolve(&s, in, in, HU_FP32) != HU_OK)
		bail_out("%s", hu_reason());
	const hu_sum_model *m = hu_sum_model_of(s.id);
	int beyond = 0, bounded = 0, infinite = 0;
	double nearest = 0;
	mpfr_t exact;

	mpfr_init2(exact, 53);
	for (int i = 0; i < SUMS; i++) {
		double a[MOST + 1], b[MOST + 1];
		size_t n = 1 + bits() % (i % 8 ? 12 : MOST);
		draw(a, b, n, hu_format_of(in));
		double c = i % 2 ? hu_round(
					   value(hu_format_of(HU_FP32), i / 2 % 6), hu_format_of(HU_FP32), HU_RNE, 0, 0)
				 : 0,
		       got = m->from(a, b, n, c, s, NULL), bound = m->bound_of(s, a, b, n, 0, c).absolute;
		int finite = isfinite(c);
		for (size_t k = 0; k < n; k++)
			finite &= isfinite(a[k]) && isfinite(b[k]);
		if (!finite || !isfinite(bound)) {
			infinite += finite;
			continue;
		}
		a[n] = c;
		b[n] = 1;
		hu_exact_dot(exact, a, b, n + 1);
		mpfr_sub_d(exact, exact, got, MPFR_RNDA);
		double e = fabs(mpfr_get_d(exact, MPFR_RNDA));
		beyond += !(e <= bound);
		bounded++;
		nearest = bound > 0 && e / bound > nearest ? e / bound : nearest;
	}
	mpfr_clear(exact);
	ok(!beyond && bounded > SUMS / 2 && infinite < SUMS / 4 && nearest > 0.3,
		"%s: of %d finite sums %d are beyond their bounds, of which errors reach %.2f; %d have none", text,
		bounded, beyond, nearest, infinite);
}

/* A result is tiny where it is so with exponents that have no end: 2^-126 - 2^-151 is a tie, and goes up. */
static void
about_the_smallest(void)
{
	hu_sum s = parsed("avx512bf16");
	int good = 0;

	for (int j = 1; j <= 16; j++) {
		double a[4] = { 0, 0x1p-63, -0x1p-100, 0 }, b[4] = { 0, 0x1p-63, j * 0x1p-53, 0 };
		good += hu_model_run(a, b, 4, s, NULL, NULL) == (j <= 4 ? 0x1p-126 : 0);
	}
	ok(good == 16, "avx512bf16 flushes 2^-126 - j 2^-153 from j = 5 on: %d of 16", good);
}

#if defined __x86_64__ && defined __linux__
#include <immintrin.h>

__attribute__((target("avx512bf16,avx512vl"))) static float
pair(float c, const uint16_t *a, const uint16_t *b)
{
	uint16_t x[8] = { a[0], a[1] }, y[8] = { b[0], b[1] };
	float from[4] = { c }, to[4];
	__m128bh p, q;

	memcpy(&p, x, sizeof p);
	memcpy(&q, y, sizeof q);
	_mm_storeu_ps(to, _mm_dpbf16_ps(_mm_loadu_ps(from), p, q));
	return to[0];
}

/* c + a b in binary16, by vfmadd132sh: codes in, code out. */
__attribute__((target("avx512fp16"))) static uint16_t
fused(uint16_t a, uint16_t b, uint16_t c)
{
	__m128h x, y, z;
	uint16_t from[3][8] = { { a }, { b }, { c } }, to[8];

	memcpy(&x, from[0], sizeof x);
	memcpy(&y, from[1], sizeof y);
	memcpy(&z, from[2], sizeof z);
	x = _mm_fmadd_sh(x, y, z);
	memcpy(to, &x, sizeof to);
	return to[0];
}

static int
has(const char *instruction)
{
	__builtin_cpu_init();
	return instruction[6] == 'b' ? __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl")
				     : __builtin_cpu_supports("avx512fp16");
}

static uint16_t
code16(double x)
{
	return (uint16_t)(hu_bits32((float)x) >> 16);
}

static double
by_instruction(const double *a, const double *b, size_t n, int bf16)
{
	float acc = 0;
	uint16_t half = 0;
	hu_format f = hu_format_of(HU_FP16);

	for (size_t k = 0; k < n; k += bf16 ? 2 : 1) {
		uint16_t x[2] = { code16(a[k]), k + 1 < n ? code16(a[k + 1]) : 0 },
			 y[2] = { code16(b[k]), k + 1 < n ? code16(b[k + 1]) : 0 };
		if (bf16)
			acc = pair(acc, x, y);
		else
			half = fused((uint16_t)hu_encode(a[k], f), (uint16_t)hu_encode(b[k], f), half);
	}
	return bf16 ? (double)acc : hu_decode(half, f);
}

static void
against_the_processor(const char *instruction, const char *text, hu_format_id in)
{
	enum { SUMS = 1100000 };
	hu_sum s = parsed(text);
	int differ = 0, zeros = 0, special = 0, small = 0;

	if (!has(instruction)) {
		skip(1, "this processor has no %s", instruction);
		return;
	}
	for (int i = 0; i < SUMS; i++) {
		double a[10], b[10];
		size_t n = 1 + bits() % 9;
		draw(a, b, n, hu_format_of(in));
		double got = hu_model_run(a, b, n, s, NULL, NULL), want = by_instruction(a, b, n, in == HU_BF16);
		differ += !equal(got, want);
		zeros += want == 0;
		special += !isfinite(want);
		small += want != 0 && fabs(want) < hu_pow2(hu_format_of(s.acc).emin + 2);
	}
	ok(!differ && zeros > 1000 && special > 10000 && small > 1000,
		"%s: of %d sums (%d zero, %d infinite or NaN, %d about the smallest number) %d differ from this "
		"processor's %s",
		text, SUMS, zeros, special, small, differ, instruction);
}
#endif

int
main(void)
{
	against_mpfr("avx512bf16", by_vdpbf16ps);
	against_mpfr("amxbf16", by_tdpbf16ps);
	against_mpfr("bfdot", by_bfdot);
	within_bounds("avx512bf16", HU_BF16);
	within_bounds("amxbf16", HU_BF16);
	within_bounds("bfdot", HU_BF16);
	within_bounds("cdna1", HU_FP16);
	within_bounds("cdna1", HU_BF16);
	within_bounds("cdna2", HU_FP16);
	within_bounds("cdna2,in=bf16,terms=2", HU_BF16);
	within_bounds("cdna3", HU_FP16);
	within_bounds("cdna3", HU_BF16);
	within_bounds("cdna3", HU_E5M2FNUZ);
	about_the_smallest();
#if defined __x86_64__ && defined __linux__
	against_the_processor("avx512bf16", "avx512bf16", HU_BF16);
	against_the_processor("avx512fp16", "fma,acc=fp16", HU_FP16);
#else
	skip(2, "no x86 processor, whose instructions are asked");
#endif
	return done_testing();
}
