/* SPDX-License-Identifier: Apache-2.0
   Draws single operations: sums, products, fused ones, and whatever is computed exactly and rounded once. */
#include "analyzers/explain/explain_parts.h"

#include "lib/number/code.h"
#include "lib/number/ulp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* CHOPPED is a precision in bits for a quotient, a root or a function: more than any format keeps and a drawing
   shows. */
enum { CHOPPED = 400, PARTIAL_MOST = 12, DRAWN = 16384 }; /* DRAWN: a drawing has a column for each bit, and 2^14 is far
							     beyond fp64 */

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

/* Returns the smallest positive value of f that, with the sign of y, changes x in this mode; 0 where none does. It
   bisects codes, which ascend with their values. */
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

/* Says which numbers change big. t is `small` in words; line is the weight of the last bit kept of their sum. */
static void
movers(hu_drawing *d, const hu_arithmetic *a, double big, double small, const char *t, int lost, long line)
{
	char b[40], m[40], of[120];
	long e = hu_ulp_exponent(big, a->f);
	double mover, ulps = hu_times_pow2(fabs(small), -(int)e);
	const char *swamped = lost ? ", and is swamped" : "";

	hu_explain_number(fabs(big), a->f, b);
	if (e == line)
		snprintf(of, sizeof of, "%s%s", b, swamped);
	else
		snprintf(of, sizeof of, "%s (1 ulp there is 2^%ld)%s", b, e, swamped);
	if (a->mode == HU_SRE) {
		hu_drawing_words(d, "%s is %.10g ulp of %s. In this mode any addend may move it.", t, ulps, of);
		return;
	}
	if (a->mode == HU_SR) {
		int k = a->flags >> 8 & 63, finer = (a->flags & (HU_STOCHASTIC_B | HU_STOCHASTIC_C)) != 0;
		hu_drawing_words(d,
			"%s is %.10g ulp of %s. With %d random bits an addend may move it from 2^-%d ulp on.", t, ulps,
			of, k ? k : 32, (k ? k : 32) + finer);
		return;
	}
	mover = smallest_mover(a, big, small);
	if (mover == 0)
		hu_drawing_words(d, "%s is %.10g ulp of %s. No addend of %s of this sign moves %s.", t, ulps, of,
			hu_format_name(a->f.id), b);
	else
		hu_drawing_words(d, "%s is %.10g ulp of %s. The smallest addend of %s that moves %s is %s = %a.", t,
			ulps, of, hu_format_name(a->f.id), b, hu_explain_number(mover, a->f, m), mover);
}

/* Says how many leading bits cancel between two operands of opposite signs. */
static void
cancellation(hu_drawing *d, mpfr_srcptr u, mpfr_srcptr v, mpfr_srcptr sum, hu_format f, int product)
{
	mpfr_srcptr big = mpfr_cmpabs(u, v) < 0 ? v : u;
	long bits = mpfr_regular_p(sum) ? (long)mpfr_get_exp(big) - (long)mpfr_get_exp(sum) : f.p;

	if (mpfr_signbit(u) == mpfr_signbit(v) || bits < 2 || !mpfr_regular_p(big))
		return;
	if (product && mpfr_regular_p(sum))
		hu_drawing_words(d,
			"The %ld leading bits cancel: what is left are bits that rounding the product first would have "
			"lost or blurred.",
			bits);
	else if (!mpfr_regular_p(sum))
		hu_drawing_words(d,
			"The operands cancel altogether: only their own rounding errors could have told them apart.");
	else
		hu_drawing_words(d,
			"The %ld leading bits cancel. The subtraction adds no error (Sterbenz), but an error that was "
			"half an ulp of an operand may now be 2^%ld ulp of the result.",
			bits, bits - 1);
}

/* Draws u + v, with labels and values of the two and words on them. Returns the weight of the last bit kept. */
static long
aligned(hu_drawing *d, const hu_arithmetic *a, mpfr_srcptr u, const char *name, mpfr_srcptr v, const char *other,
	long last, double s)
{
	char number[40], heading[96];
	long line;
	hu_aligned *r;
	hu_frame f;
	mpfr_t sum;

	mpfr_init2(sum, HU_EXPLAIN_EXACT);
	mpfr_add(sum, u, v, MPFR_RNDN);
	line = hu_explain_line(mpfr_regular_p(sum) ? sum : u, a->f);
	hu_frame_init(&f);
	snprintf(number, sizeof number, "%.10g",
		mpfr_get_d(u, MPFR_RNDN)); /* as many digits as stored values are shown with */
	r = hu_frame_add(&f, name, u, hu_explain_line(u, a->f), number);
	r->line = line;
	snprintf(number, sizeof number, "%.10g", fabs(mpfr_get_d(v, MPFR_RNDN)));
	r = hu_frame_add(&f, other, v, last, number);
	r->line = line;
	r->sign = mpfr_signbit(v) ? "−" : "+";
	hu_explain_rows(&f, a, "exact", sum, 0, s, 1);
	snprintf(heading, sizeof heading, "Aligned by weight; the line stands below the last bit kept, 1 ulp = 2^%ld",
		line);
	hu_frame_draw(&f, d, heading);
	hu_explain_rounding(d, a, sum, 0, s);
	cancellation(d, u, v, sum, a->f, mpfr_get_prec(v) > 53);
	hu_frame_release(&f);
	mpfr_clear(sum);
	return line;
}

void
hu_explain_add(hu_drawing *d, const hu_arithmetic *a, double x, const char *name, double y, const char *other, double s)
{
	double big = fabs(x) < fabs(y) ? y : x, small = fabs(x) < fabs(y) ? x : y;
	char text[40];
	long line;
	mpfr_t u, v;

	mpfr_inits2(53, u, v, (mpfr_ptr)0);
	mpfr_set_d(u, x, MPFR_RNDN);
	mpfr_set_d(v, y, MPFR_RNDN);
	line = aligned(d, a, u, name, v, other, hu_explain_line(v, a->f), s);
	if (small != 0)
		movers(d, a, big, small, hu_explain_number(fabs(small), a->f, text), s == big, line);
	mpfr_clears(u, v, (mpfr_ptr)0);
}

void
hu_explain_fma(hu_drawing *d, const hu_arithmetic *a, const double *x, double s)
{
	mpfr_t c, p, r;
	char two[40], one[40];
	double product, late;
	long line;
	int notes = 0;

	mpfr_inits2(106, c, p, (mpfr_ptr)0);
	mpfr_init2(r, 2200);
	mpfr_set_d(p, x[0], MPFR_RNDN);
	mpfr_mul_d(p, p, x[1], MPFR_RNDN);
	mpfr_set_d(c, x[2], MPFR_RNDN);
	line = aligned(d, a, c, "c", p, "a × b", hu_lowest_bit(p, hu_explain_line(p, a->f)), s);
	if (!hu_mode_draws(a->mode)) {
		product = hu_correct_round(p, a->f, a->mode, a->flags, 0, &notes);
		mpfr_set_d(r, product, MPFR_RNDN);
		mpfr_add(r, r, c, MPFR_RNDN);
		late = hu_correct_round(r, a->f, a->mode, a->flags, 0, &notes);
		if (late == s)
			hu_drawing_words(d,
				"The product enters whole; rounded to %s first, the sum would here be the same.",
				hu_format_name(a->f.id));
		else
			hu_drawing_words(d,
				"The product enters whole. Rounded to %s first, it would be %s and the sum %s: two "
				"roundings instead of one.",
				hu_format_name(a->f.id), hu_explain_number(product, a->f, two),
				hu_explain_number(late, a->f, one));
	}
	if (x[2] != 0 && mpfr_regular_p(p) && mpfr_cmpabs(c, p) > 0 && isfinite(s))
		movers(d, a, x[2], mpfr_get_d(p, MPFR_RNDN), "The product", s == x[2], line);
	mpfr_clears(c, p, r, (mpfr_ptr)0);
}

/* Sets m to an odd integer with |x| = m 2^*e. */
static void
odd_part(mpz_t m, long *e, double x)
{
	mpfr_t v;

	mpfr_init2(v, 53);
	mpfr_set_d(v, fabs(x), MPFR_RNDN);
	*e = (long)mpfr_get_z_2exp(m, v);
	if (mpz_sgn(m)) {
		mp_bitcnt_t k = mpz_scan1(m, 0);
		mpz_fdiv_q_2exp(m, m, k);
		*e += (long)k;
	}
	mpfr_clear(v);
}

/* Adds a row of factor shifted by each set bit of `other`, which has few. */
static void
partial_products(hu_frame *f, double factor, const char *name, double other, long line)
{
	char label[48];
	long e;
	mpfr_t v;
	mpz_t m;
	int rows = 0;

	mpz_init(m);
	odd_part(m, &e, other);
	mpfr_init2(v, 53);
	for (long k = (long)mpz_sizeinbase(m, 2) - 1; k >= 0; k--) {
		if (!mpz_tstbit(m, (mp_bitcnt_t)k))
			continue;
		mpfr_set_d(v, fabs(factor), MPFR_RNDN);
		mpfr_mul_2si(v, v, e + k, MPFR_RNDN);
		snprintf(label, sizeof label, "%s × 2^%ld", name, e + k);
		hu_aligned *r = hu_frame_add(f, label, v, hu_lowest_bit(v, line), "");
		r->line = line;
		r->sign = rows++ ? "+" : "";
	}
	mpfr_clear(v);
	mpz_clear(m);
}

static mp_bitcnt_t
set_bits(double x)
{
	mpz_t m;
	long e;
	mp_bitcnt_t n;

	mpz_init(m);
	odd_part(m, &e, x);
	n = mpz_popcount(m);
	mpz_clear(m);
	return n;
}

void
hu_explain_mul(hu_drawing *d, const hu_arithmetic *a, double x, double y, double s)
{
	hu_frame f;
	mpfr_t p;
	mp_bitcnt_t n = set_bits(x), m = set_bits(y);

	mpfr_init2(p, 106);
	mpfr_set_d(p, x, MPFR_RNDN);
	mpfr_mul_d(p, p, y, MPFR_RNDN);
	hu_frame_init(&f);
	if (mpfr_regular_p(p) && (m <= PARTIAL_MOST || n <= PARTIAL_MOST))
		partial_products(&f, m <= n ? x : y, m <= n ? "a" : "b", m <= n ? y : x, hu_explain_line(p, a->f));
	hu_explain_rows(&f, a, "exact", p, 0, s, f.n > 0);
	hu_frame_draw(&f, d,
		f.n > 3 ? m <= n ? "The product: a once for each bit that b has"
				 : "The product: b once for each bit that a has"
			: "The product");
	hu_explain_rounding(d, a, p, 0, s);
	if (mpfr_regular_p(p)) {
		long bits = (long)mpfr_get_exp(p) - hu_lowest_bit(p, 0);
		hu_drawing_words(d, "The exact product has %ld significant bit%s; %s keeps %d.", bits,
			bits == 1 ? "" : "s", hu_format_name(a->f.id), a->f.p);
	}
	hu_frame_release(&f);
	mpfr_clear(p);
}

/* Returns the period of the bits of x / y; 0: they end; -1: the period is very long. */
static long
period(double x, double y)
{
	enum { MOST = 4096 };
	mpz_t m, n, power;
	long e, k = 0;

	mpz_inits(m, n, power, (mpz_ptr)0);
	odd_part(n, &e, x);
	odd_part(m, &e, y);
	mpz_gcd(n, n, m);
	mpz_divexact(m, m, n);
	if (mpz_cmp_ui(m, 1) > 0) {
		mpz_set_ui(power, 1);
		do {
			mpz_mul_2exp(power, power, 1);
			mpz_mod(power, power, m);
			k++;
		} while (mpz_cmp_ui(power, 1) && k < MOST);
		if (mpz_cmp_ui(power, 1))
			k = -1;
	}
	mpz_clears(m, n, power, (mpz_ptr)0);
	return k;
}

void
hu_explain_other(hu_drawing *d, const hu_arithmetic *a, const hu_seen *w)
{
	mpfr_t v[3], r;
	mpfr_ptr p[3] = { v[0], v[1], v[2] };
	int more, call = w->e->kind == HU_EXPR_CALL;
	hu_function function = call ? w->e->function : HU_FUNCTIONS;
	hu_frame f;

	mpfr_inits2(53, v[0], v[1], v[2], (mpfr_ptr)0);
	mpfr_init2(r, CHOPPED);
	for (int i = 0; i < w->n; i++)
		mpfr_set_d(v[i], w->x[i], MPFR_RNDN);
	if (call) {
		more = hu_function_apply(function, r, p, MPFR_RNDZ) != 0;
	} else {
		mpfr_t longer;
		mpfr_init2(longer, CHOPPED + 64);
		hu_expr_literal(w->e, a->f, longer);
		more = mpfr_set(r, longer, MPFR_RNDZ) != 0;
		mpfr_clear(longer);
	}
	if (!mpfr_number_p(r)) {
		hu_drawing_words(d, "The exact result is no finite number.");
	} else if (mpfr_regular_p(r) && labs((long)mpfr_get_exp(r)) > DRAWN) {
		hu_drawing_words(d,
			"The exact value lies between 2^%ld and 2^%ld, too far from the values of %s to be drawn "
			"beside them.",
			(long)mpfr_get_exp(r) - 1, (long)mpfr_get_exp(r), hu_format_name(a->f.id));
	} else {
		hu_frame_init(&f);
		hu_explain_rows(&f, a, "exact", r, more, w->s, 0);
		hu_frame_draw(&f, d, "The exact value, and what is kept of it");
		hu_frame_release(&f);
		hu_explain_rounding(d, a, r, more, w->s);
		if (function == HU_F_DIV && more) {
			long k = period(w->x[0], w->x[1]);
			if (k > 0)
				hu_drawing_words(d,
					"The bits of the quotient repeat after %ld and never end: in the normal range "
					"it is no tie.",
					k);
			else
				hu_drawing_words(
					d, "The bits of the quotient never end: in the normal range it is no tie.");
		}
		if (function == HU_F_SQRT && more)
			hu_drawing_words(
				d, "The root is irrational: its bits neither end nor repeat, and it is no tie.");
	}
	mpfr_clears(v[0], v[1], v[2], r, (mpfr_ptr)0);
}
