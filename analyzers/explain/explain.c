/* SPDX-License-Identifier: Apache-2.0
   Decides which operations are drawn; writes their titles and their operands as stored. */
#include "analyzers/explain/explain_parts.h"

#include "analyzers/value/rows.h"
#include "lib/base/str.h"
#include "lib/number/code.h"
#include "lib/sum/model/row.h"
#include "lib/sum/tc/tc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns a literal's own text where the format does not hold its value. */
static const char *
meant(const hu_expr *e, double x, char *text, size_t room)
{
	char stored[40];
	double v;

	*text = 0;
	if (!e || e->kind != HU_EXPR_NUMBER)
		return text;
	v = strtod(e->text, NULL);
	snprintf(stored, sizeof stored, "%.17g", x);
	if (fabs(v) != fabs(x) && strcmp(e->text, stored))
		snprintf(text, room, ", for %.20s", e->text);
	return text;
}

/* Adds a number's code with its fields apart. */
static void
stored(hu_explain_panel *p, const char *label, double x, hu_format f, const hu_expr *e)
{
	uint64_t code = hu_encode(x, f);
	char hex[24], value[96], literal[40];
	hu_strip *s;
	int sign = hu_has_sign(f);

	hu_row_code(code, f, hex);
	snprintf(value, sizeof value, "%s  %.10g%s", hex, x, meant(e, x, literal, sizeof literal));
	s = hu_panel_strip(p, label, "", value);
	for (int i = 0; i < f.bits; i++) {
		s->cell[i].digit = (char)('0' + (code >> (f.bits - 1 - i) & 1));
		s->cell[i].ink = i < sign ? HU_INK_SIGN : i < sign + f.ebits ? HU_INK_EXPONENT : HU_INK_KEPT;
	}
}

static void
draw_stored(hu_drawing *d, hu_format f, const hu_seen *w)
{
	static const char *const labels[3] = { "a", "b", "c" };
	hu_explain_panel *p = hu_drawing_panel(d, "As stored", f.bits);
	int sign = hu_has_sign(f);

	p->column[sign].before = ' ';
	if (f.p > 1)
		p->column[sign + f.ebits].before = ' ';
	if (sign)
		strcpy(p->column[0].head, "s");
	strcpy(p->column[sign].head, f.ebits > 7 ? "exponent" : f.ebits > 2 ? "exp" : "e");
	if (f.p > 1)
		strcpy(p->column[sign + f.ebits].head, f.p > 4 ? "significand" : "m");
	for (int i = 0; i < w->n; i++)
		stored(p, labels[i], w->x[i], f, w->e->arg[i]);
	stored(p, "result", w->s, f, w->n ? NULL : w->e);
}

/* Returns 1 where each argument of the sum is a product; a tensor core's C may be the exception. */
static int
of_products(const hu_arithmetic *a, const hu_seen *w)
{
	const hu_expr *e;

	for (int i = 0; !hu_sum_is_unit(a->sum->id) && i < w->e->nargs; i++) {
		for (e = w->e->arg[i]; e->kind == HU_EXPR_CALL && e->function == HU_F_NEG; e = e->arg[0])
			;
		if (e->kind != HU_EXPR_CALL || e->function != HU_F_MUL)
			return 0;
	}
	return 1;
}

/* Writes "1 + 0.5 + 0.25" where that is short, otherwise the number of terms; and "by fma,acc=fp32" where a model
   executed the sum. */
static void
sum_title(hu_str *s, const hu_arithmetic *a, const hu_seen *w)
{
	char number[40], model[128];

	if (!w->y && w->n <= 4)
		for (int i = 0; i < w->n; i++)
			hu_str_addf(s, "%s%s",
				i             ? w->x[i] < 0 ? " − " : " + "
				: w->x[i] < 0 ? "−"
					      : "",
				hu_explain_number(fabs(w->x[i]), a->f, number));
	else
		hu_str_addf(s, "%d %s%s", w->n, w->y && of_products(a, w) ? "product" : "term", w->n == 1 ? "" : "s");
	if (a->sum) {
		hu_sum_print(*a->sum, model, sizeof model);
		hu_str_addf(s, " by %s", model);
	}
}

/* Whether the operation lost nothing: an error-free transformation in double, which holds the operands, finds no rest.
 */
static int
is_exact(const hu_seen *w)
{
	if (w->n != 2 || w->y || w->e->kind != HU_EXPR_CALL)
		return 0;
	double x = w->x[0], y = w->x[1], s, of;

	switch (w->e->function) {
	case HU_F_SUB: y = -y; /* fall through */
	case HU_F_ADD:
		s = x + y;
		of = s - x;
		return s == w->s && x - (s - of) + (y - of) == 0; /* Knuth's TwoSum */
	case HU_F_MUL: return x * y == w->s && fma(x, y, -w->s) == 0;
	default: /* Other functions have no such transformation. */
		return 0;
	}
}

/* A title has numbers in the fewest digits that name them in their format, so that an operation without an error can
   read as one with an error, as 1.01 - 1 = 0.0078 in bf16 does. This appends what is stored for such numbers. */
static void
stored_values(hu_str *s, const hu_arithmetic *a, const hu_seen *w)
{
	int said = 0;

	if (!is_exact(w))
		return;
	for (int i = 0; i <= w->n; i++) {
		double x = fabs(i < w->n ? w->x[i] : w->s);
		char number[40], all[40];
		hu_explain_number(x, a->f, number);
		snprintf(all, sizeof all, "%.17g", x);
		if (!isfinite(x) || strtod(number, NULL) == x || (said && strstr(s->s, number)))
			continue;
		hu_str_addf(s, said++ ? ", %s as %s" : "; %s is stored as %s", number, all);
	}
}

static void
title(hu_drawing *d, const hu_arithmetic *a, const hu_seen *w)
{
	static const char *const names[HU_FUNCTIONS] = {
#define FUNCTION(id, name, least, most, summary) name,
#include "analyzers/expression/functions.def"
#undef FUNCTION
	};
	char x[3][48], result[40];
	hu_str s;

	hu_str_init(&s);
	for (int i = 0; i < w->n && i < 3; i++) {
		char number[40];
		hu_explain_number(w->x[i], a->f, number);
		snprintf(x[i], sizeof x[i], i && w->x[i] < 0 ? "(%s)" : "%s", number);
	}
	if (w->e->kind != HU_EXPR_CALL)
		hu_str_add(&s, w->e->text ? w->e->text : "A constant");
	else if (w->e->function == HU_F_SUM)
		sum_title(&s, a, w);
	else if (w->e->function == HU_F_FMA)
		hu_str_addf(&s, "fma(%s, %s, %s)", x[0], x[1], x[2]);
	else if (w->n == 2 && !strchr("abcdefghijklmnopqrstuvwxyz", names[w->e->function][0]))
		hu_str_addf(&s, "%s %s %s", x[0],
			w->e->function == HU_F_MUL   ? "×"
			: w->e->function == HU_F_DIV ? "÷"
			: w->e->function == HU_F_SUB ? "−"
						     : names[w->e->function],
			x[1]);
	else
		hu_str_addf(&s, "%s(%s%s%s)", names[w->e->function], x[0], w->n > 1 ? ", " : "", w->n > 1 ? x[1] : "");
	hu_explain_number(w->s, a->f, result);
	if (w->y && hu_sum_model_of(a->sum->id)->draw == HU_DRAWN_UNIT) {
		hu_tc t = hu_tc_of(a->sum->arch, a->sum->in, a->sum->path);
		hu_drawing_title(d,
			"%s = %s: blocks of %d products of %s and the accumulator, %d bits of alignment, one rounding "
			"a block",
			s.s, result, t.l, hu_format_name(a->sum->in), t.f);
	} else {
		hu_str stored;
		hu_str_init(&stored);
		stored_values(&stored, a, w);
		hu_drawing_title(d, "%s = %s in %s: %d significant bit%s, %s (%s)%s", s.s, result,
			hu_format_name(a->f.id), a->f.p, a->f.p == 1 ? "" : "s", hu_mode_name(a->mode),
			hu_mode_summary(a->mode), stored.len ? stored.s : "");
		hu_str_release(&stored);
	}
	hu_str_release(&s);
}

static int
rounds(hu_function f)
{
	return f != HU_F_NEG && f != HU_F_ABS && f != HU_F_MAX && f != HU_F_MIN;
}

void
hu_explain_seen(void *to, const hu_arithmetic *a, const hu_seen *w)
{
	hu_explain *x = to;
	hu_drawing *d = &x->d;
	int finite = isfinite(w->start);

	if (w->e->kind == HU_EXPR_CALL ? !rounds(w->e->function) : w->e != x->root)
		return;
	if (w->e->kind == HU_EXPR_CALL && w->e->function == HU_F_POW && w->e != x->root &&
		exp2(rint(log2(fabs(w->s)))) == fabs(w->s))
		return; /* 2^-24 is how a constant is typed */
	title(d, a, w);
	for (int i = 0; i < w->n; i++)
		finite &= isfinite(w->x[i]) && (!w->y || isfinite(w->y[i]));
	if (!finite) {
		hu_drawing_words(d, "An operand is not finite: there is nothing to align or to round.");
		return;
	}
	if (w->e->kind == HU_EXPR_CALL && w->e->function == HU_F_SUM) {
		if (!w->y)
			hu_explain_steps(d, a, w,
				"A row an addition: the addend, then the sum after it; the line stands below the last "
				"bit kept",
				"x", 1);
		else if (hu_sum_model_of(a->sum->id)->draw == HU_DRAWN_UNIT)
			hu_explain_blocks(d, a, w);
		else
			hu_explain_model(d, a, w);
		return;
	}
	draw_stored(d, a->f, w);
	switch (w->e->kind == HU_EXPR_CALL ? w->e->function : HU_FUNCTIONS) {
	case HU_F_ADD: hu_explain_add(d, a, w->x[0], "a", w->x[1], "b", w->s); break;
	case HU_F_SUB: hu_explain_add(d, a, w->x[0], "a", -w->x[1], "b", w->s); break;
	case HU_F_MUL: hu_explain_mul(d, a, w->x[0], w->x[1], w->s); break;
	case HU_F_FMA: hu_explain_fma(d, a, w->x, w->s); break;
	default: /* functions whose digits are not added up */
		hu_explain_other(d, a, w);
		break;
	}
}
