/* SPDX-License-Identifier: Apache-2.0 */
#include "t/oracle/oracle-arith.h"

#include "lib/number/arith.h"
#include "t/tool/tap.h"

#include <math.h>

enum {
	PREC = 300
}; /* a quotient or root of doubles is never within 2^-110 of a number with 54 bits, unless it is one */

static _Thread_local mpfr_t y, u, v, w;
static _Thread_local int ready;

static int
operate(arith_op op, mpfr_rnd_t rnd)
{
	switch (op) {
	case ARITH_ADD: return mpfr_add(y, u, v, rnd);
	case ARITH_SUB: return mpfr_sub(y, u, v, rnd);
	case ARITH_MUL: return mpfr_mul(y, u, v, rnd);
	case ARITH_DIV: return mpfr_div(y, u, v, rnd);
	case ARITH_SQRT: return mpfr_sqrt(y, u, rnd);
	default: return mpfr_fma(y, u, v, w, rnd);
	}
}

void
arith_look(arith_exact *x, arith_op op, double a, double b, double c, hu_format f)
{
	int any_nan = isnan(a) || (op != ARITH_SQRT && isnan(b)) || (op == ARITH_FMA && isnan(c));

	if (!ready) {
		mpfr_inits2(53, u, v, w, (mpfr_ptr)0);
		mpfr_init2(y, PREC);
		ready = 1;
	}
	mpfr_set_d(u, a, MPFR_RNDN);
	mpfr_set_d(v, b, MPFR_RNDN);
	mpfr_set_d(w, c, MPFR_RNDN);
	oracle_odd(y, operate(op, MPFR_RNDZ));
	oracle_look(&x->o, y, f);
	x->made_nan = mpfr_nan_p(y) && !any_nan;
	x->down = x->o;
	if (mpfr_zero_p(y)) {
		operate(op, MPFR_RNDD);
		oracle_look(&x->down, y, f);
	}
}

hu_rounded
arith_wanted(const arith_exact *x, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	hu_rounded r = oracle_round(mode == HU_RD ? &x->down : &x->o, f, mode, flags, rand);

	if (x->made_nan)
		r.flags |= HU_INVALID;
	return r;
}

hu_rounded
arith_got(arith_op op, double a, double b, double c, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	switch (op) {
	case ARITH_ADD: return hu_arith_add(a, b, f, mode, flags, rand);
	case ARITH_SUB: return hu_arith_sub(a, b, f, mode, flags, rand);
	case ARITH_MUL: return hu_arith_mul(a, b, f, mode, flags, rand);
	case ARITH_DIV: return hu_arith_div(a, b, f, mode, flags, rand);
	case ARITH_SQRT: return hu_arith_sqrt(a, f, mode, flags, rand);
	default: return hu_arith_fma(a, b, c, f, mode, flags, rand);
	}
}

void
arith_check(arith_tally *t, arith_op op, double a, double b, double c, hu_format f, int flags, uint32_t rand)
{
	arith_exact x;

	arith_look(&x, op, a, b, c, f);
	for (int m = 0; m < HU_MODES; m++) {
		t->points++;
		if (!oracle_agrees(arith_got(op, a, b, c, f, (hu_mode)m, flags, rand),
			    arith_wanted(&x, f, (hu_mode)m, flags, rand))) {
			t->wrong++;
			t->op = op;
			t->mode = (hu_mode)m;
			t->a = a, t->b = b, t->c = c;
		}
	}
}

int
arith_told(const arith_tally *t, const char *what, hu_format f)
{
	static const char *const names[] = { "add", "sub", "mul", "div", "sqrt", "fma" };

	if (t->wrong)
		diag("last wrong: %s %a %a %a %s", names[t->op], t->a, t->b, t->c, hu_mode_name(t->mode));
	return is_int(t->wrong, 0, "%s: %s, %ld results by MPFR, all modes", hu_format_name(f.id), what, t->points);
}
