/* SPDX-License-Identifier: Apache-2.0
   Describes one rounding by rows in a drawing and by words. */
#include "analyzers/explain/explain_parts.h"

#include "analyzers/value/rows.h"

#include <math.h>

const char *
hu_explain_number(double x, hu_format f, char *text)
{
	hu_row_shortest(x, f, text);
	return text;
}

long
hu_explain_line(mpfr_srcptr v, hu_format f)
{
	long e = mpfr_regular_p(v) ? (long)mpfr_get_exp(v) - 1 : f.emin;

	return (e < f.emin ? f.emin : e) - f.p + 1;
}

/* Whether f has numbers of v's sign. */
static int
representable_sign(mpfr_srcptr v, hu_format f)
{
	return hu_has_sign(f) || !mpfr_signbit(v);
}

void
hu_explain_rows(hu_frame *f, const hu_arithmetic *a, const char *label, mpfr_srcptr v, int more, double s, int rule)
{
	/* a zero has no bit to keep: its line continues that of the row above */
	long line = !mpfr_regular_p(v) && f->n ? f->row[f->n - 1].line : hu_explain_line(v, a->f);
	char text[40], beyond[96];
	hu_aligned *r;
	mpfr_t x;

	r = hu_frame_add(f, label, v, line, "");
	r->line = line;
	r->exact = 1;
	r->more = more;
	r->rule = rule;
	if (hu_lowest_bit(v, line) < line || more)
		hu_frame_marks(f, line, more ? HU_NO_LINE : hu_lowest_bit(v, line));
	if (!isfinite(s) || (mpfr_regular_p(v) && mpfr_get_exp(v) - 1 > a->f.emax)) {
		if (!representable_sign(v, a->f))
			snprintf(beyond, sizeof beyond, "result: %s; %s has no negative numbers",
				hu_explain_number(s, a->f, text), hu_format_name(a->f.id));
		else
			snprintf(beyond, sizeof beyond, "result: %s; the largest %s is %.10g",
				hu_explain_number(s, a->f, text), hu_format_name(a->f.id), a->f.max);
		hu_frame_leave_out(f, beyond);
		f->row[f->n - 1].label[0] = 0;
		return;
	}
	mpfr_init2(x, 53);
	mpfr_set_d(x, s, MPFR_RNDN);
	snprintf(text, sizeof text, "%.10g", s); /* as many digits as stored values are shown with */
	r = hu_frame_add(f, "result", x, line, text);
	r->line = line;
	r->changed = mpfr_regular_p(x) ? f->n - (f->row[f->n - 2].marks ? 3 : 2) : -1;
	mpfr_clear(x);
}

/* Sets rest to the part of v below line, as a fraction of an ulp. */
static void
below(mpfr_ptr rest, mpfr_srcptr v, long line)
{
	mpfr_t whole;

	mpfr_init2(whole, mpfr_get_prec(v) + 2);
	mpfr_abs(rest, v, MPFR_RNDN);
	mpfr_mul_2si(rest, rest, -line, MPFR_RNDN);
	mpfr_trunc(whole, rest);
	mpfr_sub(rest, rest, whole, MPFR_RNDN);
	mpfr_clear(whole);
}

static int
bit(mpfr_srcptr rest, int place)
{
	double scaled = ldexp(mpfr_get_d(rest, MPFR_RNDZ), place);

	return fmod(floor(scaled), 2) != 0;
}

static void
decide(hu_drawing *d, const hu_arithmetic *a, mpfr_srcptr rest, int more, int down)
{
	int half = mpfr_cmp_d(rest, 0.5), sticky = more;
	const char *what = down ? "down" : "up";
	double part = mpfr_get_d(rest, MPFR_RNDN);
	mpfr_t low;

	if (half == 0 && more)
		half = 1;
	mpfr_init2(low, mpfr_get_prec(rest));
	mpfr_mul_2ui(low, rest, 2, MPFR_RNDN);
	sticky |= !mpfr_integer_p(low);
	mpfr_clear(low);
	const char *tie = a->mode == HU_RNE   ? "the tie goes to the even neighbour, "
			  : a->mode == HU_RNA ? "the tie goes away from zero, "
			  : a->mode == HU_RNZ ? "the tie goes toward zero, "
					      : "";
	const char *than = half < 0 ? "less than half" : half > 0 ? "more than half" : "exactly half";
	switch (a->mode) {
	case HU_RNE:
	case HU_RNA:
	case HU_RNZ:
		hu_drawing_words(d,
			"Guard %d, round %d, sticky %d: %.10g ulp lies below the line, %s: %s%s rounds the magnitude "
			"%s.",
			bit(rest, 1), bit(rest, 2), sticky, part, than, half == 0 ? tie : "", hu_mode_name(a->mode),
			what);
		break;
	case HU_SR: {
		int k = a->flags >> 8 & 63;
		char that[64] = "that probability";
		double taken = ldexp(part, k);
		taken = a->flags & HU_STOCHASTIC_B   ? floor(taken + 0.5)
			: a->flags & HU_STOCHASTIC_C ? rint(taken)
						     : floor(taken);
		if (k > 0 && k < 32)
			snprintf(that, sizeof that, "probability %.10g (%d random bit%s)", ldexp(taken, -k), k,
				k > 1 ? "s" : "");
		hu_drawing_words(d,
			"Guard %d, round %d, sticky %d: %.10g ulp lies below the line. SR rounds the magnitude up with "
			"%s; this draw took it %s.",
			bit(rest, 1), bit(rest, 2), sticky, part, that, what);
		break;
	}
	case HU_SRE:
		hu_drawing_words(d,
			"Guard %d, round %d, sticky %d: %.10g ulp lies below the line. SRE takes either neighbour with "
			"probability 1/2; this draw went %s.",
			bit(rest, 1), bit(rest, 2), sticky, part, what);
		break;
	case HU_RO:
		hu_drawing_words(d,
			"Guard %d, round %d, sticky %d: %.10g ulp lies below the line. RO takes the neighbour whose "
			"last bit is 1: %s.",
			bit(rest, 1), bit(rest, 2), sticky, part, what);
		break;
	case HU_RZ:
	case HU_RU:
	case HU_RD:
	case HU_MODES: /* counts them */
		hu_drawing_words(d,
			"Guard %d, round %d, sticky %d: %.10g ulp lies below the line. %s does not ask how much: the "
			"magnitude goes %s.",
			bit(rest, 1), bit(rest, 2), sticky, part, hu_mode_name(a->mode), what);
	}
}

void
hu_explain_rounding(hu_drawing *d, const hu_arithmetic *a, mpfr_srcptr v, int more, double s)
{
	long line = hu_explain_line(v, a->f);
	hu_format f = a->f;
	char text[40];
	mpfr_t rest;

	if (!mpfr_regular_p(v)) {
		hu_drawing_words(d, "The exact result is 0.");
		return;
	}
	if (!isfinite(s) && !representable_sign(v, f)) {
		hu_drawing_words(d, "The exact result is negative, and %s has no negative numbers: %s gives %s.",
			hu_format_name(f.id), hu_mode_name(a->mode), hu_explain_number(s, f, text));
		return;
	}
	if (!isfinite(s) || mpfr_get_exp(v) - 1 > f.emax) {
		hu_drawing_words(d, "The exact result is beyond %.10g, the largest %s: %s gives %s.", f.max,
			hu_format_name(f.id), hu_mode_name(a->mode), hu_explain_number(s, f, text));
		return;
	}
	if (mpfr_get_exp(v) - 1 < f.emin && ((f.flags | a->flags) & (HU_FTZ | HU_NOSUB))) {
		hu_drawing_words(d,
			"%s%s has no subnormal numbers: between 0 and 2^%d there is nothing to round to, and %s gives "
			"%s.",
			hu_format_name(f.id), a->flags & HU_FTZ ? " under ftz" : "", f.emin, hu_mode_name(a->mode),
			hu_explain_number(s, f, text));
		return;
	}
	mpfr_init2(rest, mpfr_get_prec(v) + 2);
	below(rest, v, line);
	if (mpfr_zero_p(rest) && !more)
		hu_drawing_words(d, "Nothing lies below the line: the result is exact.");
	else
		decide(d, a, rest, more, mpfr_cmp_d(v, s) * mpfr_sgn(v) > 0);
	if (mpfr_get_exp(v) - 1 < f.emin)
		hu_drawing_words(d,
			"Below 2^%d numbers of %s are subnormal: the line stays at 2^%ld, so fewer significant bits "
			"are left.",
			f.emin, hu_format_name(f.id), line);
	mpfr_clear(rest);
}
