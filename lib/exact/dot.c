/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* before mpfr.h, which then declares mpfr_fprintf */

#include "lib/exact/dot.h"

#include "lib/base/hash.h"
#include "lib/base/status.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdatomic.h>

static hu_exact_way way = HU_EXACT_AUTO;

static atomic_ullong integers, again;

void
hu_exact_way_set(hu_exact_way e)
{
	way = e;
	atomic_store(&integers, 0);
	atomic_store(&again, 0);
}

void
hu_exact_counts(unsigned long long *by_integers, unsigned long long *judged_again)
{
	*by_integers = atomic_load(&integers);
	*judged_again = atomic_load(&again);
}

hu_exact_way hu_exact_way_get(void) { return way; }

static int
log2_above(size_t n)
{
	int b = 0;

	while (n) {
		n >>= 1;
		b++;
	}
	return b;
}

/* Exponent of the last nonzero bit of a finite nonzero double. */
static int
last_bit(double x)
{
	uint64_t u = hu_bits64(x), m = (u & 0xfffffffffffffu) | ((u >> 52 & 0x7ff) ? 0x10000000000000u : 0);
	int field = (int)(u >> 52 & 0x7ff);

	return (field ? field - 1075 : -1074) + __builtin_ctzll(m);
}

/* The sum's IEEE value where an operand is not finite: plain double arithmetic has it. */
static int
special(mpfr_t r, const double *a, const double *b, size_t n)
{
	double s = 0;
	int any = 0;

	for (size_t k = 0; k < n; k++) {
		if (hu_isfinite(a[k]) && hu_isfinite(b[k]))
			continue;
		any = 1;
		s += a[k] * b[k]; /* ±Inf or NaN: order and finite terms do not matter */
	}
	if (any)
		mpfr_set_d(r, s, MPFR_RNDN);
	return any;
}

/* Exponents of the highest and lowest bits that any product has; 0 where all are zero. */
static int
span(const double *a, const double *b, size_t n, int *high, int *low)
{
	int any = 0;

	for (size_t k = 0; k < n; k++) {
		if (a[k] == 0 || b[k] == 0)
			continue;
		int h = hu_exponent(a[k]) + hu_exponent(b[k]) + 2, l = last_bit(a[k]) + last_bit(b[k]);
		*high = !any || h > *high ? h : *high;
		*low = !any || l < *low ? l : *low;
		any = 1;
	}
	return any;
}

void
hu_exact_dot_mpfr(mpfr_t r, const double *a, const double *b, size_t n)
{
	int high, low;
	mpfr_t x, y;

	if (special(r, a, b, n))
		return;
	if (!span(a, b, n, &high, &low)) {
		mpfr_set_zero(r, 1);
		return;
	}
	mpfr_set_prec(r, high - low + log2_above(n) + 2);
	mpfr_set_zero(r, 1);
	mpfr_init2(x, 53);
	mpfr_init2(y, 53);
	for (size_t k = 0; k < n; k++) {
		mpfr_set_d(x, a[k], MPFR_RNDN);
		mpfr_set_d(y, b[k], MPFR_RNDN);
		mpfr_fma(r, x, y, r, MPFR_RNDN);
	}
	mpfr_clear(x);
	mpfr_clear(y);
}

/* x as an integer multiple of 2^low, which divides it. */
static __int128
integer(double x, int low)
{
	uint64_t u = hu_bits64(x);
	int field = (int)(u >> 52 & 0x7ff), e = (field ? field - 1075 : -1074) - low;
	__int128 m = (__int128)((u & 0xfffffffffffffu) | (field ? 0x10000000000000u : 0));

	m = e >= 0 ? m << e : m >> -e;
	return u >> 63 ? -m : m;
}

static void
set_int128(mpfr_t r, __int128 v, int low)
{
	unsigned __int128 m = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
	mpfr_t part;

	mpfr_set_prec(r, 128);
	mpfr_init2(part, 64);
	mpfr_set_ui_2exp(r, (unsigned long)(m >> 64), 64, MPFR_RNDN);
	mpfr_set_ui(part, (unsigned long)m, MPFR_RNDN);
	mpfr_add(r, r, part, MPFR_RNDN);
	mpfr_mul_2si(r, r, low, MPFR_RNDN);
	if (v < 0)
		mpfr_neg(r, r, MPFR_RNDN);
	mpfr_clear(part);
}

int
hu_exact_dot_int(mpfr_t r, const double *a, const double *b, size_t n)
{
	int ah = 0, al = 0, bh = 0, bl = 0, any = 0;

	/* Both vectors as integers over their own lowest bit: 62 bits each, the sum in 127. */
	for (size_t k = 0; k < n; k++) {
		if (!hu_isfinite(a[k]) || !hu_isfinite(b[k]))
			return 0;
		if (a[k] == 0 || b[k] == 0)
			continue;
		int h = hu_exponent(a[k]), l = last_bit(a[k]), g = hu_exponent(b[k]), m = last_bit(b[k]);
		ah = !any || h > ah ? h : ah;
		al = !any || l < al ? l : al;
		bh = !any || g > bh ? g : bh;
		bl = !any || m < bl ? m : bl;
		any = 1;
	}
	if (!any) {
		mpfr_set_zero(r, 1);
		return 1;
	}
	if (ah - al > 61 || bh - bl > 61 || (ah - al + 1) + (bh - bl + 1) + log2_above(n) > 126)
		return 0;
	__int128 sum = 0;
	for (size_t k = 0; k < n; k++)
		if (a[k] != 0 && b[k] != 0)
			sum += (__int128)(int64_t)integer(a[k], al) * (int64_t)integer(b[k], bl);
	if (sum == 0)
		mpfr_set_zero(r, 1);
	else
		set_int128(r, sum, al + bl);
	return 1;
}

/* A pure function of the operands, so that every run judges the same sums again. */
static int
chosen(const double *a, const double *b, size_t n)
{
	return n && hu_mix64(hu_bits64(a[n / 2]) ^ hu_mix64(hu_bits64(b[n - 1]) ^ hu_mix64(n ^ hu_bits64(a[n - 1])))) % 64 == 0;
}

static void
judge_again(const mpfr_t r, const double *a, const double *b, size_t n)
{
	mpfr_t exact;

	mpfr_init(exact);
	hu_exact_dot_mpfr(exact, a, b, n);
	if (mpfr_cmp(exact, r)) {
		for (size_t k = 0; k < n; k++)
			fprintf(stderr, "%a * %a\n", a[k], b[k]);
		mpfr_fprintf(stderr, "integers: %Ra\nMPFR:     %Ra\n", r, exact);
		hu_bug(__FILE__, __LINE__, "the integer engine and MPFR disagree on the sum of these %zu products", n);
	}
	mpfr_clear(exact);
	atomic_fetch_add(&again, 1);
}

void
hu_exact_dot(mpfr_t r, const double *a, const double *b, size_t n)
{
	if (way == HU_EXACT_MPFR || !hu_exact_dot_int(r, a, b, n)) {
		hu_exact_dot_mpfr(r, a, b, n);
		return;
	}
	atomic_fetch_add(&integers, 1);
	if (chosen(a, b, n))
		judge_again(r, a, b, n);
}
