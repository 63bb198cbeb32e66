/* SPDX-License-Identifier: Apache-2.0
   The two values of an expression: the exact one, and the one that a format computes. */
#include "analyzers/expression/evaluate_sum.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/code.h"
#include "lib/number/count.h"
#include "lib/number/philox.h"
#include "lib/sum/model/row.h"
#include "lib/sum/result.h"

#include <errno.h>
#include <stdlib.h>

/* Bits of values that are rounded to odd; 55 would be enough for fp64. */
enum { WORK = 256 };

hu_status
hu_expr_codes_fit(const hu_expr *e, hu_format f)
{
	if (e->kind == HU_EXPR_CAST)
		f = hu_format_of(e->format);
	if (e->kind == HU_EXPR_CODE) {
		errno = 0;
		unsigned long long c = strtoull(e->text, NULL, 16);
		if (errno || (f.bits < 64 && c >> f.bits))
			return hu_fail(HU_EINVAL, "column %d: %s is wider than the %d bits of %s", e->column, e->text,
				f.bits, hu_format_name(f.id));
	}
	for (int i = 0; i < e->nargs; i++)
		HU_TRY(hu_expr_codes_fit(e->arg[i], f));
	return HU_OK;
}

int
hu_expr_has_cast(const hu_expr *e)
{
	int has = e->kind == HU_EXPR_CAST;

	for (int i = 0; i < e->nargs && !has; i++)
		has = hu_expr_has_cast(e->arg[i]);
	return has;
}

void
hu_expr_literal(const hu_expr *e, hu_format f, mpfr_ptr x)
{
	switch (e->kind) {
	case HU_EXPR_NUMBER: hu_odd(x, mpfr_strtofr(x, e->text, NULL, 0, MPFR_RNDZ)); break;
	case HU_EXPR_CODE: mpfr_set_d(x, hu_decode(strtoull(e->text, NULL, 16), f), MPFR_RNDZ); break;
	case HU_EXPR_PI: hu_odd(x, mpfr_const_pi(x, MPFR_RNDZ)); break;
	case HU_EXPR_E:
		mpfr_set_ui(x, 1, MPFR_RNDZ);
		hu_odd(x, mpfr_exp(x, x, MPFR_RNDZ));
		break;
	case HU_EXPR_INF: mpfr_set_inf(x, 1); break;
	case HU_EXPR_NAN: mpfr_set_nan(x); break;
	case HU_EXPR_CALL:
	case HU_EXPR_CAST:
	case HU_EXPR_ARRAY: HU_ASSERT(!"an expression with arguments is no literal");
	}
}

/* Returns x as an operation under a's flags reads it. */
static double
operand(double x, hu_arithmetic *a)
{
	if (!(a->flags & HU_DAZ) || !hu_is_subnormal(x, a->f))
		return x;
	a->notes |= HU_NOTE_INEXACT | HU_NOTE_UNDERFLOW;
	return x * 0.0;
}

double
hu_arithmetic_round(hu_arithmetic *a, mpfr_srcptr x)
{
	uint32_t rand = 0;

	if (hu_mode_draws(a->mode))
		rand = hu_random_word(a->seed, hu_fnv1a32("calc"), 0, a->index);
	a->index++;
	return hu_correct_round(x, a->f, a->mode, a->flags, rand, &a->notes);
}

/* Returns 1 where a sum equals one of its nonzero operands. Either operand may be the one that vanishes; for an fma the
   operands are c and the exact product. */
static int
swamped(hu_function f, const double *x, double s, mpfr_ptr *a)
{
	double other = f == HU_F_SUB ? -x[1] : x[1];

	if (f == HU_F_ADD || f == HU_F_SUB)
		return hu_swamps(x[0], other, s) || hu_swamps(other, x[0], s);
	return f == HU_F_FMA && !mpfr_zero_p(a[0]) && !mpfr_zero_p(a[1]) && mpfr_number_p(a[0]) &&
	       mpfr_number_p(a[1]) && hu_swamps(x[2], 1, s);
}

static void
show(const hu_arithmetic *a, const hu_expr *e, const double *x, const double *partial, int n, double s)
{
	hu_seen what = { e, x, NULL, partial, n, 0, s };

	if (a->seen)
		a->seen(a->to, a, &what);
}

/* Whether f of zero is NaN where IEEE 754 has an infinity: in P3109, whose zero has no sign, so that nobody knows from
   which side it was reached (4.10: Divide, Recip and RSqrt). Its signed finite formats are FNUZ. */
static int
zero_has_no_side(hu_function f, hu_format to)
{
	return (f == HU_F_DIV || f == HU_F_RSQRT) && (hu_is_p3109(to) || to.special == HU_SPECIAL_FNUZ);
}

/* Executes one operation on values of the format and rounds once. */
static double
operate(hu_function f, const double *x, int n, hu_arithmetic *a)
{
	mpfr_t v[3], r;
	mpfr_ptr p[3] = { v[0], v[1], v[2] };
	double s;
	int t, nan = 0, finite = 1;

	mpfr_inits2(53, v[0], v[1], v[2], (mpfr_ptr)0);
	mpfr_init2(r, WORK);
	for (int i = 0; i < n; i++) {
		mpfr_set_d(v[i], x[i], MPFR_RNDN);
		nan |= hu_isnan(x[i]);
		finite &= hu_isfinite(x[i]);
	}
	t = hu_function_apply(f, r, p, MPFR_RNDZ);
	if (t == 0 && mpfr_zero_p(r) && a->mode == HU_RD)
		hu_function_apply(f, r, p, MPFR_RNDD); /* only in this mode is x - x equal to -0 */
	hu_odd(r, t);
	if (mpfr_nan_p(r) && !nan)
		a->notes |= HU_NOTE_INVALID;
	if (mpfr_inf_p(r) && finite) {
		a->notes |= HU_NOTE_DIVIDE_BY_ZERO;
		if (zero_has_no_side(f, a->f)) {
			a->notes |= HU_NOTE_INVALID;
			mpfr_set_nan(r);
		}
	}
	if (f == HU_F_NEG || f == HU_F_ABS || f == HU_F_MAX || f == HU_F_MIN)
		s = hu_correct_round(r, a->f, a->mode, a->flags & (HU_SATURATE | HU_PROPAGATE), 0,
			&a->notes); /* exact, except for a sign that the format lacks: no random bits are drawn and
				       nothing is flushed */
	else {
		int flags = a->flags;
		a->flags &= ~HU_DAZ; /* DAZ affects operands only */
		s = hu_arithmetic_round(a, r);
		a->flags = flags;
	}
	if (swamped(f, x, s, p))
		a->notes |= HU_NOTE_SWAMPED;
	mpfr_clears(v[0], v[1], v[2], r, (mpfr_ptr)0);
	return s;
}

/* Sums from the left, rounding each addition. */
static double
sum(const hu_expr *e, hu_arithmetic *a)
{
	double *x = hu_xmalloc(2 * (size_t)e->nargs * sizeof *x), *partial = x + e->nargs, two[2] = { 0, 0 };

	for (int i = 0; i < e->nargs; i++) {
		x[i] = two[1] = operand(hu_expr_value(e->arg[i], a), a);
		two[0] = operand(two[0], a);
		partial[i] = two[0] = operate(HU_F_ADD, two, 2, a);
	}
	show(a, e, x, partial, e->nargs, two[0]);
	free(x);
	return two[0];
}

/* Sets the factors of an argument; returns 0 where it is no product. */
static int
factors(const hu_expr *e, const hu_expr **x, const hu_expr **y, int *negative)
{
	*negative = 0;
	for (; e->kind == HU_EXPR_CALL && e->function == HU_F_NEG; e = e->arg[0])
		*negative = !*negative;
	if (e->kind != HU_EXPR_CALL || e->function != HU_F_MUL)
		return 0;
	*x = e->arg[0];
	*y = e->arg[1];
	return 1;
}

static double
value_in(const hu_expr *e, hu_arithmetic *a, hu_format f)
{
	hu_format own = a->f;
	double v;

	a->f = f;
	v = hu_expr_value(e, a);
	a->f = own;
	return v;
}

/* Sums by a summation model. The arguments' factors are evaluated here, each in the format in which the model takes
   it. */
static double
sum_by_model(const hu_expr *e, hu_arithmetic *a)
{
	const hu_sum *s = a->sum;
	size_t n = 0;
	double *x = hu_xmalloc(2 * (size_t)e->nargs * sizeof *x), *y = x + e->nargs, start = 0, v;
	hu_format in = hu_expr_factor_format(s, a->f);

	for (int i = 0; i < e->nargs; i++) {
		const hu_expr *p, *q;
		int negative;
		if (factors(e->arg[i], &p, &q, &negative)) {
			x[n] = value_in(p, a, in);
			y[n] = value_in(q, a, in);
			x[n] = negative ? -x[n] : x[n];
			n++;
		} else if (i == 0 && hu_sum_model_of(s->id)->from) {
			start = value_in(e->arg[i], a, hu_part_format(*s));
		} else {
			x[n] = value_in(e->arg[i], a, in);
			y[n++] = 1;
		}
	}
	v = hu_expr_model_sum(a, e, x, y, n, start);
	free(x);
	return v;
}

static double
literal(const hu_expr *e, hu_arithmetic *a)
{
	mpfr_t v;

	mpfr_init2(v, WORK);
	hu_expr_literal(e, a->f, v);
	double s = hu_arithmetic_round(a, v);
	if (s == 0 && !mpfr_zero_p(v))
		a->notes |= HU_NOTE_ZEROED;
	mpfr_clear(v);
	show(a, e, NULL, NULL, 0, s);
	return s;
}

/* Computes the argument of a cast in the cast's format, and rounds the value to the format around it. */
static double
cast(const hu_expr *e, hu_arithmetic *a)
{
	double x = value_in(e->arg[0], a, hu_format_of(e->format));
	mpfr_t v;

	mpfr_init2(v, 53);
	mpfr_set_d(v, x, MPFR_RNDN);
	double s = hu_arithmetic_round(a, v);
	mpfr_clear(v);
	if (s == 0 && x != 0)
		a->notes |= HU_NOTE_ZEROED;
	return s;
}

/* Returns 1 where the value of e is computed by an operation from the value of its first argument. */
static int
has_first(const hu_expr *e)
{
	return e->kind == HU_EXPR_CALL && e->function != HU_F_SUM && e->nargs;
}

/* Executes operation e on `first`, the value of its first argument, and on the values of the others. */
static double
operation(const hu_expr *e, double first, hu_arithmetic *a)
{
	int as_it_is = e->function == HU_F_NEG || e->function == HU_F_ABS;
	double x[3];

	for (int i = 0; i < e->nargs; i++) {
		double v = i ? hu_expr_value(e->arg[i], a) : first;
		x[i] = as_it_is ? v : operand(v, a);
	}
	double s = operate(e->function, x, e->nargs, a);
	show(a, e, x, NULL, e->nargs, s);
	return s;
}

/* 1 + 1 + 1 … is a chain of first arguments as long as the text. It is walked in a loop, since recursion would take a
   stack as deep. Brackets, which nest to the right, are limited (expr.c). */
double
hu_expr_value(const hu_expr *e, hu_arithmetic *a)
{
	const hu_expr **chain = NULL, *first = e;
	size_t n = 0, i = 0;

	for (; has_first(first); first = first->arg[0])
		n++;
	chain = hu_xmalloc((n + 1) * sizeof *chain);
	for (first = e; has_first(first); first = first->arg[0])
		chain[i++] = first;
	double s = first->kind == HU_EXPR_CAST   ? cast(first, a)
		   : first->kind != HU_EXPR_CALL ? literal(first, a)
		   : first->function != HU_F_SUM ? operation(first, 0, a)
		   : a->sum                      ? sum_by_model(first, a)
						 : sum(first, a);
	while (i > 0)
		s = operation(chain[--i], s, a);
	free(chain);
	return s;
}
