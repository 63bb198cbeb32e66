/* SPDX-License-Identifier: Apache-2.0
   Computes the exact value of an expression. Numbers, + - * / and what consists of them are fractions of integers: they
   are computed exactly and rounded to odd once at the end. In any other expression each step is rounded to odd at twice
   the wanted precision, then at four times, and so on until two results agree; a difference that only becomes smaller
   with more precision is taken as 0. Where a number of the wanted precision lies strictly between the results of steps
   rounded downward and of steps rounded upward, it is the value: exp(log(4)) is 4, and tanh(1000) is not 1. */
#include "analyzers/expression/expr.h"

#include "lib/base/mem.h"
#include "lib/number/code.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_BITS = 1 << 18,   /* most bits of a fraction */
	MOST_EXPONENT = 20000, /* largest exponent of a literal or a power */
	GUARD = 64,            /* bits: a difference of which fewer are left counts as 0 */
	ATTEMPTS = 4,
	MOST_WAVE = 1 << 16 /* largest exponent of an argument of sin or cos, which takes so many more bits */
};

/* What the steps of an evaluation met: top is the largest exponent up to MOST_WAVE of an argument of sin or cos, whose
   bits above the point say nothing of the result; far: one was larger, and there is no result. */
typedef struct walk {
	mpfr_exp_t top;
	int far;
} walk;

/* Reads the literal `text` as a fraction; returns 0 where it is too large for one. */
static int
fraction(const char *text, mpq_t q)
{
	const char *s = text + (*text == '-');
	int hex = s[0] == '0' && (s[1] | 32) == 'x', point = 0, n = 0;
	size_t length = strlen(text);
	long exponent = 0, scale = 0;

	if (length > MOST_BITS / 4)
		return 0;
	char *digits = hu_xmalloc(length + 2);
	for (s += 2 * hex; *s && (hex ? (*s | 32) != 'p' : (*s | 32) != 'e'); s++)
		if (*s == '.')
			point = 1;
		else
			digits[n++] = *s, scale += point;
	digits[n] = 0;
	if (*s)
		exponent = strtol(s + 1, NULL, 10); /* LONG_MIN has no magnitude */
	int good = n && exponent <= MOST_EXPONENT && exponent >= -MOST_EXPONENT &&
		   mpz_set_str(mpq_numref(q), digits, hex ? 16 : 10) == 0;
	free(digits);
	mpz_set_ui(mpq_denref(q), 1);
	exponent -= hex ? 4 * scale : scale;
	if (good && hex) {
		mpz_mul_2exp(mpq_numref(q), mpq_numref(q), exponent > 0 ? (unsigned long)exponent : 0);
		mpz_mul_2exp(mpq_denref(q), mpq_denref(q), exponent < 0 ? (unsigned long)-exponent : 0);
	} else if (good) {
		mpz_t ten;
		mpz_init(ten);
		mpz_ui_pow_ui(ten, 10, (unsigned long)labs(exponent));
		mpz_mul(exponent < 0 ? mpq_denref(q) : mpq_numref(q), exponent < 0 ? mpq_denref(q) : mpq_numref(q),
			ten);
		mpz_clear(ten);
	}
	mpq_canonicalize(q);
	if (*text == '-')
		mpq_neg(q, q);
	return good;
}

static size_t
bits(const mpq_t q)
{
	return mpz_sizeinbase(mpq_numref(q), 2) + mpz_sizeinbase(mpq_denref(q), 2);
}

/* Computes x^n as a fraction; returns 0 where it is none or too large. */
static int
power(mpq_t r, const mpq_t x, const mpq_t n)
{
	if (mpz_cmp_ui(mpq_denref(n), 1) || mpz_cmpabs_ui(mpq_numref(n), MOST_EXPONENT) > 0)
		return 0;
	unsigned long e = mpz_get_ui(mpq_numref(n));
	int down = mpq_sgn(n) < 0;
	if ((down && mpq_sgn(x) == 0) || bits(x) * e > MOST_BITS)
		return 0;
	mpz_pow_ui(mpq_numref(r), mpq_numref(x), e);
	mpz_pow_ui(mpq_denref(r), mpq_denref(x), e);
	if (down)
		mpq_inv(r, r);
	return 1;
}

static int
apply(hu_function f, mpq_t r, mpq_t *a)
{
	switch (f) {
	case HU_F_ADD: mpq_add(r, a[0], a[1]); return 1;
	case HU_F_SUB: mpq_sub(r, a[0], a[1]); return 1;
	case HU_F_MUL: mpq_mul(r, a[0], a[1]); return 1;
	case HU_F_DIV:
		if (mpq_sgn(a[1]) == 0)
			return 0;
		mpq_div(r, a[0], a[1]);
		return 1;
	case HU_F_FMA:
		mpq_mul(r, a[0], a[1]);
		mpq_add(r, r, a[2]);
		return 1;
	case HU_F_POW: return power(r, a[0], a[1]);
	case HU_F_NEG: mpq_neg(r, a[0]); return 1;
	case HU_F_ABS: mpq_abs(r, a[0]); return 1;
	case HU_F_MAX: mpq_set(r, a[mpq_cmp(a[0], a[1]) < 0]); return 1;
	case HU_F_MIN: mpq_set(r, a[mpq_cmp(a[0], a[1]) > 0]); return 1;
	default: /* functions whose values are irrational but for few operands */
		return 0;
	}
}

/* Computes e as a fraction; returns 0 where it is none or too large. */
static int
rational(const hu_expr *e, hu_format f, mpq_t q)
{
	mpq_t a[3];
	int good = 1;

	if (e->kind == HU_EXPR_NUMBER)
		return fraction(e->text, q);
	if (e->kind == HU_EXPR_CODE) {
		double x = hu_decode(strtoull(e->text, NULL, 16), f);
		if (hu_isfinite(x))
			mpq_set_d(q, x);
		return hu_isfinite(x);
	}
	if (e->kind == HU_EXPR_CAST)
		return rational(e->arg[0], hu_format_of(e->format), q);
	if (e->kind != HU_EXPR_CALL)
		return 0;
	for (int i = 0; i < 3; i++)
		mpq_init(a[i]);
	if (e->function == HU_F_SUM) {
		mpq_set_ui(q, 0, 1);
		for (int i = 0; good && i < e->nargs; i++) {
			good = rational(e->arg[i], f, a[0]);
			mpq_add(q, q, a[0]);
			good = good && bits(q) <= MOST_BITS;
		}
	} else {
		for (int i = 0; good && i < e->nargs; i++)
			good = rational(e->arg[i], f, a[i]);
		good = good && apply(e->function, q, a) && bits(q) <= MOST_BITS;
	}
	for (int i = 0; i < 3; i++)
		mpq_clear(a[i]);
	return good;
}

/* Makes r, a sum of numbers up to 2^top or the sine of one, zero where cancellation left nothing but what the rounding
   of these numbers may have made. */
static void
settle(mpfr_ptr r, mpfr_exp_t top)
{
	if (mpfr_regular_p(r) && mpfr_get_exp(r) < top - (mpfr_exp_t)mpfr_get_prec(r) + GUARD)
		mpfr_set_zero(r, 1);
}

static mpfr_exp_t
top_of(mpfr_srcptr x)
{
	return mpfr_regular_p(x) ? mpfr_get_exp(x) : mpfr_get_emin();
}

/* Makes r, the sine or cosine of a number up to 2^top, 0, 1 or -1 where it differs by no more than what the rounding of
   that number may have made: at multiples of pi/2. A number near 0 has no such neighbours. */
static void
settle_wave(mpfr_ptr r, mpfr_exp_t top)
{
	mpfr_t rest;

	settle(r, top);
	if (!mpfr_regular_p(r) || top < 0)
		return;
	mpfr_init2(rest, mpfr_get_prec(r));
	mpfr_abs(rest, r, MPFR_RNDZ);
	mpfr_ui_sub(rest, 1, rest, MPFR_RNDZ);
	if (mpfr_zero_p(rest) || mpfr_get_exp(rest) < -(mpfr_exp_t)mpfr_get_prec(r) + GUARD)
		mpfr_set_si(r, mpfr_sgn(r), MPFR_RNDZ);
	mpfr_clear(rest);
}

static void numeric(walk *w, const hu_expr *e, hu_format f, mpfr_ptr out, mpfr_rnd_t rnd);

/* The argument of a sine or cosine is a; returns 1 where the result can be computed. */
static int
meet_wave(walk *w, mpfr_srcptr a)
{
	if (!mpfr_regular_p(a))
		return 1;
	if (top_of(a) > MOST_WAVE) {
		w->far = 1;
		return 0;
	}
	w->top = top_of(a) > w->top ? top_of(a) : w->top;
	return 1;
}

/* Rounds the last step of e to odd at the precision of out, and the steps before it at prec as numeric does. */
static void
last_step(walk *w, const hu_expr *e, hu_format f, mpfr_ptr out, mpfr_prec_t prec, mpfr_rnd_t rnd)
{
	mpfr_t v[3];
	mpfr_ptr a[3] = { v[0], v[1], v[2] };
	mpfr_exp_t top;

	while (e->kind == HU_EXPR_CAST) { /* exactly, a cast changes nothing */
		f = hu_format_of(e->format);
		e = e->arg[0];
	}
	if (e->kind != HU_EXPR_CALL) {
		hu_expr_literal(e, f, out);
		return;
	}
	mpfr_inits2(prec, v[0], v[1], v[2], (mpfr_ptr)0);
	if (e->function == HU_F_SUM) {
		mpfr_set_zero(v[0], 1);
		top = mpfr_get_emin();
		for (int i = 0; i < e->nargs; i++) {
			numeric(w, e->arg[i], f, v[1], rnd);
			top = top_of(v[1]) > top ? top_of(v[1]) : top;
			hu_odd(v[0], mpfr_add(v[0], v[0], v[1], MPFR_RNDZ));
			settle(v[0], top);
		}
		mpfr_set(out, v[0], MPFR_RNDZ); /* keeps all bits */
	} else {
		for (int i = 0; i < e->nargs; i++)
			numeric(w, e->arg[i], f, v[i], rnd);
		if ((e->function == HU_F_SIN || e->function == HU_F_COS) && !meet_wave(w, v[0]))
			mpfr_set_nan(out);
		else
			hu_function_odd(e->function, out, a);
		if (e->function == HU_F_ADD || e->function == HU_F_SUB || e->function == HU_F_FMA) {
			mpfr_srcptr last = v[e->function == HU_F_FMA ? 2 : 1];
			top = top_of(v[0]) + (e->function == HU_F_FMA ? top_of(v[1]) : 0);
			settle(out, top_of(last) > top ? top_of(last) : top);
		} else if (e->function == HU_F_SIN || e->function == HU_F_COS)
			settle_wave(out, top_of(v[0]));
	}
	mpfr_clears(v[0], v[1], v[2], (mpfr_ptr)0);
}

/* Rounds every step at the precision of out: downward, upward, or for MPFR_RNDZ to odd. */
static void
numeric(walk *w, const hu_expr *e, hu_format f, mpfr_ptr out, mpfr_rnd_t rnd)
{
	mpfr_t wide;

	if (rnd == MPFR_RNDZ) {
		last_step(w, e, f, out, mpfr_get_prec(out), rnd);
		return;
	}
	mpfr_init2(wide, mpfr_get_prec(out) + 2); /* a value rounded to odd there rounds as the exact one does */
	last_step(w, e, f, wide, mpfr_get_prec(out), rnd);
	mpfr_set(out, wide, rnd);
	mpfr_clear(wide);
}

/* Returns 1 where x and y agree to 8 bits more than prec. */
static int
agree(mpfr_srcptr x, mpfr_srcptr y, mpfr_prec_t prec)
{
	mpfr_t d;
	int same;

	if (!mpfr_regular_p(x) || !mpfr_regular_p(y))
		return (mpfr_nan_p(x) && mpfr_nan_p(y)) || mpfr_equal_p(x, y);
	mpfr_init2(d, 64);
	mpfr_sub(d, x, y, MPFR_RNDA);
	same = mpfr_zero_p(d) || mpfr_get_exp(d) < mpfr_get_exp(y) - prec - 8;
	mpfr_clear(d);
	return same;
}

/* Sets short_one to the number of its precision that is nearest to x; returns 1 where the exact value may be equal to
   it, given that x comes from steps rounded at x's own precision. */
static int
near(mpfr_ptr short_one, mpfr_srcptr x)
{
	mpfr_t d;
	int may;

	if (!mpfr_regular_p(x) || mpfr_set(short_one, x, MPFR_RNDN) == 0)
		return 0;
	mpfr_init2(d, 64);
	mpfr_sub(d, x, short_one, MPFR_RNDA);
	may = mpfr_get_exp(d) < mpfr_get_exp(x) - (mpfr_exp_t)mpfr_get_prec(x) + GUARD;
	mpfr_clear(d);
	return may;
}

/* Returns 1 where short_one lies strictly between the values of e by steps rounded downward and by steps rounded
   upward, at the precision of y. */
static int
enclosed(const hu_expr *e, hu_format f, mpfr_srcptr short_one, mpfr_srcptr y)
{
	mpfr_t low, high;
	walk w = { 0, 0 };
	int between;

	mpfr_inits2(mpfr_get_prec(y), low, high, (mpfr_ptr)0);
	numeric(&w, e, f, low, MPFR_RNDD);
	numeric(&w, e, f, high, MPFR_RNDU);
	if (mpfr_cmp(low, high) > 0) /* a decreasing function, as in 1/x, exchanges the two */
		mpfr_swap(low, high);
	between = mpfr_less_p(low, short_one) && mpfr_less_p(short_one, high);
	mpfr_clears(low, high, (mpfr_ptr)0);
	return between;
}

/* Sets `out` from steps rounded to odd: x has twice the wanted precision, y four times; both have as many bits more as
   arguments of sin and cos have above the point. HU_EINVAL where these are too many. */
static hu_status
irrational(const hu_expr *e, hu_format f, mpfr_ptr out, mpfr_ptr x, mpfr_ptr y)
{
	mpfr_prec_t prec = mpfr_get_prec(out);
	walk w = { 0, 0 };

	numeric(&w, e, f, x, MPFR_RNDZ);
	/* An argument of sin that is the exponential of another sine is known only once that one is, and so is whether
	   it is too large. */
	for (mpfr_exp_t more = 0; w.top > more;) {
		more = w.top;
		mpfr_set_prec(x, 2 * prec + more);
		mpfr_set_prec(y, 4 * prec + more);
		w.far = 0;
		numeric(&w, e, f, x, MPFR_RNDZ);
	}
	for (int i = 0; i < ATTEMPTS && !w.far; i++) {
		numeric(&w, e, f, y, MPFR_RNDZ);
		if (agree(x, y, prec))
			break;
		mpfr_swap(x, y);
		mpfr_set_prec(y, 2 * mpfr_get_prec(x));
	}
	if (w.far)
		return hu_fail(HU_EINVAL,
			"the exact value needs the sine or cosine of a number beyond 2^%d, whose digits before the "
			"point are too many: write it with a smaller argument",
			MOST_WAVE);
	if (!near(out, y) || !enclosed(e, f, out, y))
		hu_odd(out, mpfr_set(out, y, MPFR_RNDZ));
	return HU_OK;
}

hu_status
hu_expr_exact(const hu_expr *e, hu_format f, mpfr_ptr out)
{
	mpfr_prec_t prec = mpfr_get_prec(out);
	hu_status st = HU_OK;
	mpfr_t x, y;
	mpq_t q;

	mpq_init(q);
	int fractions = rational(e, f, q);
	mpfr_init2(x, 2 * prec);
	mpfr_init2(y, 4 * prec);
	if (fractions && mpq_sgn(q)) {
		hu_odd(out, mpfr_set_q(out, q, MPFR_RNDZ));
	} else {
		st = irrational(e, f, out, x, y);
		if (fractions && !mpfr_zero_p(out)) /* the steps know the sign of a 0 */
			mpfr_set_zero(out, 1);
	}
	mpfr_clears(x, y, (mpfr_ptr)0);
	mpq_clear(q);
	return st;
}
