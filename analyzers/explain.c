/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/explain.h"

#include "analyzers/rows.h"
#include "lib/number/code.h"

#include <gmp.h>
#include <math.h>
#include <stdio.h>

enum { KEPT_MOST = 60, SHOWN_BELOW = 26 }; /* columns */

/* The bits drawn: weights 2^top down to 2^bottom, the line below 2^unit. */
typedef struct frame { int top, unit, bottom; } frame;

/* |v| as an integer times 2^*e. */
static void
bits_of(mpz_t m, mpfr_exp_t *e, mpfr_srcptr v)
{
	*e = mpfr_get_z_2exp(m, v);
	mpz_abs(m, m);
}

static int
bit(const mpz_t m, mpfr_exp_t e, long weight)
{
	return weight >= e && mpz_tstbit(m, (mp_bitcnt_t)(weight - e));
}

/* Weight of the lowest set bit; HIGH for a zero. */
static long
lowest(mpfr_srcptr v, long high)
{
	mpfr_exp_t e;
	mpz_t m;
	long w = high;

	mpz_init(m);
	bits_of(m, &e, v);
	if (mpz_sgn(m))
		w = (long)mpz_scan1(m, 0) + (long)e;
	mpz_clear(m);
	return w;
}

/* One line: a label, the sign, the bits from V's first to the one of weight
   LAST or its last set one, dots where its significand has none, the value. */
static void
draw(const char *label, mpfr_srcptr v, long last, frame at, const char *value)
{
	mpfr_exp_t e;
	mpz_t m;
	long first = mpfr_regular_p(v) ? (long)mpfr_get_exp(v) - 1 : 0, end = lowest(v, last);

	end = end < last ? end : last;
	if (!mpfr_regular_p(v))
		first = end = at.unit; /* a zero is drawn as one digit */
	mpz_init(m);
	bits_of(m, &e, v);
	printf("  %-8s %c", label, mpfr_signbit(v) ? '-' : ' ');
	for (int w = at.top; w >= at.bottom; w--) {
		putchar(w > first || w < end ? '.' : bit(m, e, w) ? '1' : '0');
		if (w == at.unit)
			fputs(" | ", stdout);
	}
	printf("%s%s%s\n", lowest(v, at.bottom) < at.bottom ? "~" : " ", *value ? "  " : "", value);
	mpz_clear(m);
}

static int
moves(const hu_arithmetic *a, double x, double y)
{
	mpfr_t s;
	int notes = 0, moved;

	mpfr_init2(s, 2200); /* any sum of two fp64 values is exact */
	mpfr_set_d(s, x, MPFR_RNDN);
	mpfr_add_d(s, s, y, MPFR_RNDN);
	moved = hu_correct_round(s, a->f, a->mode, a->flags, 0, &notes) != x;
	mpfr_clear(s);
	return moved;
}

/* The smallest positive value of f that, with the sign of Y, moves X in this
   mode; 0 where none does. Codes ascend with their values, so they are bisected. */
static double
smallest_mover(const hu_arithmetic *a, double x, double y)
{
	uint64_t low = 0, high = hu_encode(a->f.max, a->f);

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		double d = hu_decode(middle, a->f);
		if (moves(a, x, y < 0 ? -d : d))
			high = middle;
		else
			low = middle;
	}
	double d = hu_decode(high, a->f);
	return moves(a, x, y < 0 ? -d : d) ? d : 0;
}

/* Guard, round and sticky bits of the exact sum, and what they decide. */
static void
say_rounding(const hu_arithmetic *a, mpfr_srcptr sum, frame at, double s)
{
	mpfr_exp_t e;
	mpfr_t rest, whole;
	mpz_t m;
	int got = mpfr_cmp_d(sum, s), guard, round, sticky;

	mpz_init(m);
	bits_of(m, &e, sum);
	guard = bit(m, e, at.unit - 1);
	round = bit(m, e, at.unit - 2);
	sticky = mpz_sgn(m) && (long)mpz_scan1(m, 0) + e < at.unit - 2;
	mpz_clear(m);
	mpfr_inits2(mpfr_get_prec(sum) + 2, rest, whole, (mpfr_ptr)0);
	mpfr_abs(rest, sum, MPFR_RNDN);
	mpfr_mul_2si(rest, rest, -at.unit, MPFR_RNDN);
	mpfr_trunc(whole, rest);
	mpfr_sub(rest, rest, whole, MPFR_RNDN);
	int half = mpfr_cmp_d(rest, 0.5), down = (got > 0) == (mpfr_sgn(sum) > 0);
	if (mpfr_zero_p(rest))
		printf("  Nothing is shifted out%s.\n", got == 0 ? ": the sum is exact" : "");
	else
		printf("  guard %d, round %d, sticky %d: %.10g ulp is below the line, %s half; %s %s.\n", guard, round, sticky,
		       mpfr_get_d(rest, MPFR_RNDN), half < 0 ? "less than" : half > 0 ? "more than" : "exactly", hu_mode_name(a->mode),
		       !isfinite(s) ? "overflows" : down ? "rounds the magnitude down" : "rounds the magnitude up");
	mpfr_clears(rest, whole, (mpfr_ptr)0);
}

static void
say_words(const hu_arithmetic *a, double big, double small, int lost)
{
	char b[40], t[40], m[40];
	double mover, unit = hu_pow2(hu_ulp_exponent(big, a->f));

	hu_row_shortest(fabs(big), a->f, b);
	hu_row_shortest(fabs(small), a->f, t);
	printf("  %s is %.10g ulp of %s%s.", t, fabs(small) / unit, b, lost ? ", and is swamped" : "");
	if (hu_mode_draws(a->mode)) {
		printf(" In this mode any addend may move it.\n");
		return;
	}
	mover = smallest_mover(a, big, small);
	hu_row_shortest(mover, a->f, m);
	if (mover == 0)
		printf(" No addend of %s of this sign moves %s.\n", hu_format_name(a->f.id), b);
	else
		printf(" The smallest addend of %s that moves %s is %s = %a.\n", hu_format_name(a->f.id), b, m, mover);
}

/* The last place of a value of f. */
static long
last_of(mpfr_srcptr v, hu_format f)
{
	return hu_ulp_exponent(mpfr_get_d(v, MPFR_RNDN), f);
}

void
hu_explain_sum(const hu_arithmetic *a, hu_function f, const double *x, int n, double s)
{
	mpfr_t u, v, sum, result;
	char first[80], second[80], third[80];
	double big, small;
	long low;
	frame at;

	(void)n;
	if (f != HU_F_ADD && f != HU_F_SUB && f != HU_F_FMA)
		return;
	for (int i = 0; i < (f == HU_F_FMA ? 3 : 2); i++)
		if (!isfinite(x[i]) || x[i] == 0)
			return;
	mpfr_inits2(110, u, v, (mpfr_ptr)0);
	mpfr_inits2(4400, sum, result, (mpfr_ptr)0); /* exact also for an fma in fp64 */
	if (f == HU_F_FMA) {
		mpfr_set_d(u, x[2], MPFR_RNDN);
		mpfr_set_d(v, x[0], MPFR_RNDN);
		mpfr_mul_d(v, v, x[1], MPFR_RNDN);
	} else {
		mpfr_set_d(u, x[0], MPFR_RNDN);
		mpfr_set_d(v, f == HU_F_SUB ? -x[1] : x[1], MPFR_RNDN);
	}
	mpfr_add(sum, u, v, MPFR_RNDN);
	mpfr_set_d(result, isfinite(s) ? s : 0, MPFR_RNDN);
	at.top = (int)(mpfr_get_exp(u) > mpfr_get_exp(v) ? mpfr_get_exp(u) : mpfr_get_exp(v)) - 1;
	if (mpfr_regular_p(sum) && mpfr_get_exp(sum) - 1 > at.top)
		at.top = (int)mpfr_get_exp(sum) - 1;
	at.unit = hu_ulp_exponent(mpfr_get_d(sum, MPFR_RNDZ), a->f);
	low = lowest(u, at.unit) < lowest(v, at.unit) ? lowest(u, at.unit) : lowest(v, at.unit);
	at.bottom = low > at.unit - 3 ? at.unit - 3 : low < at.unit - SHOWN_BELOW ? at.unit - SHOWN_BELOW : (int)low;
	hu_row_shortest(mpfr_get_d(u, MPFR_RNDN), a->f, first);
	snprintf(second, sizeof second, f == HU_F_FMA ? "%.10g, the exact product" : "%.10g", mpfr_get_d(v, MPFR_RNDN));
	hu_row_shortest(s, a->f, third);
	printf("%s: %d significant bits; the line is below 2^%d, the last bit kept\n", hu_format_name(a->f.id), a->f.p, at.unit);
	if (at.top - at.unit <= KEPT_MOST) {
		draw(f == HU_F_FMA ? "c" : "a", u, last_of(u, a->f), at, first);
		draw(f == HU_F_FMA ? "a * b" : f == HU_F_SUB ? "-b" : "b", v, f == HU_F_FMA ? lowest(v, at.unit) : last_of(v, a->f), at, second);
		draw("exact", sum, at.unit, at, "");
		if (isfinite(s))
			draw("result", result, last_of(result, a->f), at, third);
		else
			printf("  result    %s: the exact sum is beyond %.10g, the largest value\n", third, a->f.max);
	}
	say_rounding(a, sum, at, s);
	big = mpfr_get_d(mpfr_cmpabs(u, v) < 0 ? v : u, MPFR_RNDN);
	small = mpfr_get_d(mpfr_cmpabs(u, v) < 0 ? u : v, MPFR_RNDN);
	if (f != HU_F_FMA || mpfr_cmpabs(u, v) >= 0)
		say_words(a, big, small, s == big);
	mpfr_clears(u, v, sum, result, (mpfr_ptr)0);
}
