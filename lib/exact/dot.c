/* SPDX-License-Identifier: Apache-2.0
   One exact inner product at a time, by MPFR and by sums of doubles on grids, and the check of one by the other. */
#include <stdio.h> /* before mpfr.h, which then declares mpfr_fprintf */

#include "lib/exact/dot.h"

#include "lib/base/hash.h"
#include "lib/base/status.h"
#include "lib/exact/grid/grid.h"
#include "lib/exact/judge.h"
#include "lib/exact/operand.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>

static hu_exact_way way = HU_EXACT_AUTO;

static atomic_ullong engine, again;

void
hu_exact_way_set(hu_exact_way e)
{
	way = e;
	atomic_store(&engine, 0);
	atomic_store(&again, 0);
	hu_exact_tally_reset();
}

void
hu_exact_counts(unsigned long long *by_engine, unsigned long long *judged_again)
{
	*by_engine = atomic_load(&engine);
	*judged_again = atomic_load(&again);
}

hu_exact_way hu_exact_way_get(void) { return way; }

/* The exponent of the last bit that is 1 in a finite nonzero double. */
static int
last_bit(double x)
{
	uint64_t u = hu_bits64(x), m = (u & 0xfffffffffffffu) | ((u >> 52 & 0x7ff) ? 0x10000000000000u : 0);
	int field = (int)(u >> 52 & 0x7ff);

	return (field ? field - 1075 : -1074) + __builtin_ctzll(m);
}

/* Where an operand is not finite, sets r to the sum's IEEE value and returns 1. Double arithmetic gives it. */
static int
special(mpfr_t r, const double *a, const double *b, size_t n)
{
	double s = 0;
	int any = 0;

	for (size_t k = 0; k < n; k++) {
		if (hu_isfinite(a[k]) && hu_isfinite(b[k]))
			continue;
		any = 1;
		s += a[k] * b[k]; /* ±Inf or NaN: neither the order nor the finite terms matter */
	}
	if (any)
		mpfr_set_d(r, s, MPFR_RNDN);
	return any;
}

/* Finds the exponents of the highest and lowest bits that any product has. Returns 0 where all products are zero. */
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
	mpfr_set_prec(r, high - low + hu_log2_up(n + 1) + 2);
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

int
hu_exact_dot_value(hu_exact_value *v, const double *a, const double *b, size_t n)
{
	const hu_grid *grid = hu_grid_get();
	hu_measured x = { 0 }, y = { 0 };
	double sum[HU_GRID_LEVELS] = { 0 };
	hu_grid_plan plan;

	hu_measure(&x, a, n);
	hu_measure(&y, b, n);
	int width = x.low + y.low, wide = x.bits + y.bits > 53, levels = wide ? 2 : 1, e = x.e + y.e;
	if (x.special || y.special || e > 900 || e - width < -1074)
		return 0;
	hu_plan_make(&plan, n, wide ? 2 : 1);
	while (levels <= HU_GRID_LEVELS && plan.limit[levels] < width)
		levels++;
	if (levels > HU_GRID_LEVELS)
		return 0;
	for (size_t done = 0, k; done < n; done += k) {
		k = n - done < HU_GRID_CHUNK ? n - done : HU_GRID_CHUNK;
		(wide ? grid->wide_dot : grid->narrow_dot)(
			k, a + done, b + done, hu_pow2(-x.e), hu_pow2(-y.e), levels, plan.start, sum);
		for (int l = levels - 1; l > 0; l--) { /* as in hu_grid_carry */
			double up = (plan.start[l - 1] + sum[l]) - plan.start[l - 1];
			sum[l] -= up;
			sum[l - 1] += up;
		}
	}
	hu_exact_value_set(v, 0);
	for (int l = levels; l--;)
		if (sum[l] != 0)
			hu_exact_value_add(v, sum[l]);
	hu_exact_value_scale(v, e);
	return 1;
}

/* A pure function of the operands, so that every run checks the same sums. */
static int
chosen(const double *a, const double *b, size_t n)
{
	return n &&
	       hu_mix64(hu_bits64(a[n / 2]) ^ hu_mix64(hu_bits64(b[n - 1]) ^ hu_mix64(n ^ hu_bits64(a[n - 1])))) % 64 ==
		       0;
}

static atomic_ullong disagreements;

unsigned long long
hu_exact_disagreements(void)
{
	return atomic_load(&disagreements);
}

hu_status
hu_exact_agreed(hu_status st, unsigned long long before, const char *what, int call)
{
	if (st != HU_OK || hu_exact_disagreements() == before)
		return st;
	return hu_fail(HU_EUNABLE,
		"%s, call %d: two ways of computing its exact values disagree, so that it is not judged", what, call);
}

int
hu_exact_tells_details(void)
{
	return atomic_load(&disagreements) == 0;
}

void
hu_mpfr_disagrees(const char *fmt, ...)
{
	unsigned long long before = atomic_fetch_add(&disagreements, 1);
	char what[1024];
	va_list ap;

	if (before >= HU_TELL)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	fprintf(stderr,
		"halfulp: warning: %s; what rests on it is not judged; please report it with what is printed above%s\n",
		what, before + 1 < HU_TELL ? "" : ", further ones are only counted");
}

void
hu_exact_disagree(const mpfr_t ours, const mpfr_t oracle, const double *a, const double *b, size_t n)
{
	if (hu_exact_tells_details()) {
		for (size_t k = 0; k < n; k++)
			fprintf(stderr, "%a * %a\n", a[k], b[k]);
		mpfr_fprintf(stderr, "engine: %Ra\nMPFR:   %Ra\n", ours, oracle);
	}
	hu_mpfr_disagrees("the exact engine and MPFR disagree on the sum of these %zu products", n);
}

/* Lets MPFR check r, the engine's sum. */
static void
judge_again(const mpfr_t r, const double *a, const double *b, size_t n)
{
	mpfr_t exact;

	mpfr_init(exact);
	hu_exact_dot_mpfr(exact, a, b, n);
	if (mpfr_cmp(exact, r))
		hu_exact_disagree(r, exact, a, b, n);
	mpfr_clear(exact);
	atomic_fetch_add(&again, 1);
}

void
hu_exact_dot(mpfr_t r, const double *a, const double *b, size_t n)
{
	hu_exact_value v;

	if (way == HU_EXACT_MPFR || !hu_exact_dot_value(&v, a, b, n)) {
		hu_exact_dot_mpfr(r, a, b, n);
		return;
	}
	hu_exact_value_mpfr(r, &v);
	atomic_fetch_add(&engine, 1);
	if (chosen(a, b, n))
		judge_again(r, a, b, n);
}
