/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/nonfinite/cause.h"

#include "lib/number/round.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
hu_origin_name(hu_origin_cause cause)
{
	static const char *const names[] = { "overflow", "overflow_inside", "division_by_zero", "zero_constant",
		"out_of_range", "inf_minus_inf", "unknown_operator", "input" };

	return names[cause];
}

const char *
hu_origin_words(hu_origin_cause cause)
{
	static const char *const words[] = { "the exact value overflows the format",
		"a number on the way to the result overflowed", "it divides by zero",
		"it divides by a constant that is 0 in the format", "a logarithm or root is out of its range",
		"it takes infinity from infinity, or times 0", "its operator is not known",
		"no call of the step made it" };

	return words[cause];
}

/* The value of a constant operand: a recorder names the tensor after it, "const.1e-08", and so tells it from what the
   tensor's format made of it. */
static double
constant_of(const hu_info *info, const hu_tensor *t)
{
	char text[32];

	if (strncmp(info->name, "const.", 6))
		return t->n == 1 ? hu_get(t, 0) : 0;
	snprintf(
		text, sizeof text, "%.*s", (int)strcspn(info->name + 6, "@"), info->name + 6); /* a copy is "@spread" */
	for (char *s = text; *s; s++)
		*s = *s == 'p' ? '.' : *s;
	return strtod(text, NULL);
}

/* A constant that was added to the divisor, or is an attribute of the call, and is 0 in the format that it is rounded
   to; 0 where there is none. */
static double
zero_constant(const hu_analysis *a, const hu_trace *t, const hu_call *c, int divisor)
{
	const hu_program *p = a->run->train;
	hu_format f = hu_format_of(p->t[c->out[0]].format);
	double eps = hu_attr_num(c, "eps", 0);

	if (eps != 0 &&
		(hu_round(eps, f, HU_RNE, 0, 0) == 0 || hu_round(eps, hu_format_of(c->fmt.compute), HU_RNE, 0, 0) == 0))
		return eps;
	int made = divisor >= 0 && divisor < c->nin ? p->t[c->in[divisor]].producer : -1;
	const hu_call *by = made >= 0 ? &p->c[made] : NULL;
	if (!by)
		return 0;
	f = hu_format_of(p->t[c->in[divisor]].format);
	eps = hu_attr_num(by, "eps", 0);
	for (int k = 0; k < by->nin && eps == 0; k++)
		if (t->t[by->in[k]].data &&
			(p->t[by->in[k]].producer < 0 || !strncmp(p->t[by->in[k]].name, "const.", 6)))
			eps = constant_of(&p->t[by->in[k]], &t->t[by->in[k]]);
	return eps != 0 && hu_round(eps, f, HU_RNE, 0, 0) == 0 ? eps : 0;
}

static void
list_operands(hu_origin *o, const hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tensor *const *in)
{
	size_t n = t->t[c->out[o->k]].n;

	for (int k = 0; k < c->nin && k < 4; k++) {
		const char *name = a->run->train->t[c->in[k]].name;
		int own = in[k]->n == n && n > 1, one = in[k]->n == 1;
		double x = own ? hu_get(in[k], o->element) : one ? hu_get(in[k], 0) : 0;
		for (size_t i = 0; !own && !one && i < in[k]->n; i++)
			x = fabs(hu_get(in[k], i)) > x ? fabs(hu_get(in[k], i)) : x;
		hu_str_addf(&o->operands, "%s%s%s=%.6g", k ? " " : "", name, own || one ? "" : "|max|", x);
	}
}

static hu_origin_cause
of_infinity(const hu_analysis *a, const hu_trace *t, const hu_call *c, hu_origin *o, int nan)
{
	int division = c->op->undefined & HU_UNDEFINED_DIVISION, domain = c->op->undefined & HU_UNDEFINED_DOMAIN;

	if (division && (o->constant = zero_constant(a, t, c, c->op->divisor - 1)) != 0)
		return HU_ORIGIN_CONSTANT;
	if (domain && (nan || !division))
		return HU_ORIGIN_RANGE;
	return division ? HU_ORIGIN_DIVISION : nan ? HU_ORIGIN_DIFFERENCE : HU_ORIGIN_INSIDE;
}

hu_status
hu_origin_explain(hu_origin *o, const hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tensor *const *in)
{
	hu_status st = HU_OK;
	int infinite = 0, number = 0, nan = 0;
	mpfr_t exact[1];

	list_operands(o, a, t, c, in);
	o->exact = NAN;
	if (!HU_COLUMN(c->op, reference)) {
		o->cause = HU_ORIGIN_OPAQUE;
		return HU_OK;
	}
	for (int k = 0; k < c->nin; k++)
		for (size_t i = 0; i < in[k]->n && !infinite; i++)
			infinite = !hu_isfinite(hu_get(in[k], i));
	mpfr_init2(exact[0], 256);
	if (!infinite)
		st = a->opt.engine->exact(c, in, o->k, &o->element, 1, exact);
	if (!infinite && st == HU_OK) {
		number = mpfr_number_p(exact[0]) != 0;
		nan = mpfr_nan_p(exact[0]) != 0;
		o->exact = mpfr_get_d(exact[0], MPFR_RNDN);
	}
	mpfr_clear(exact[0]);
	if (st != HU_OK)
		return st;
	hu_format f = hu_format_of(a->run->train->t[c->out[o->k]].format);
	if (infinite)
		o->cause = HU_ORIGIN_DIFFERENCE;
	else if (number && !hu_isfinite(hu_round(o->exact, f, c->mode, c->flags, 0)))
		o->cause = HU_ORIGIN_OVERFLOW;
	else if (number && c->op->moments && (o->constant = zero_constant(a, t, c, -1)) != 0)
		o->cause = HU_ORIGIN_CONSTANT; /* the exact step adds an epsilon that is there */
	else if (number)
		o->cause = HU_ORIGIN_INSIDE;
	else
		o->cause = of_infinity(a, t, c, o, nan);
	return HU_OK;
}
