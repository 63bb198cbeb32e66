/* SPDX-License-Identifier: Apache-2.0
   Draws a sum with a row for each addition: the addend, what of it is lost, the sum after it. The line moves left as
   the sum grows, like a staircase. */
#include "analyzers/explain/explain_parts.h"

#include "lib/base/mem.h"
#include "lib/number/ulp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Steps that are drawn at the beginning and at the end of a longer sum. */
enum { FIRST = 9, LAST = 3 };

/* One addition: the sum before, what was added, the sum after. Errors are those of the additions alone. */
typedef struct step { double before, after, error; int swamped; } step;

static void
term(mpfr_ptr t, const hu_seen *w, int i)
{
	mpfr_set_d(t, w->x[i], MPFR_RNDN);
	if (w->y)
		mpfr_mul_d(t, t, w->y[i], MPFR_RNDN);
}

static void
draw_step(hu_frame *f, const hu_arithmetic *a, const hu_seen *w, int i, const step *s, const char *name, int width)
{
	char value[96], number[40];
	long line;
	hu_aligned *r;
	mpfr_t t, sum, after;

	mpfr_init2(t, 106);
	mpfr_init2(sum, HU_EXPLAIN_EXACT);
	mpfr_init2(after, 53);
	term(t, w, i);
	mpfr_add_d(sum, t, s->before, MPFR_RNDN);
	line = hu_explain_line(mpfr_regular_p(sum) ? sum : t, a->f);
	snprintf(number, sizeof number, "%.10g", fabs(mpfr_get_d(t, MPFR_RNDN)));
	if (s->swamped)
		snprintf(value, sizeof value, "%-*s  swamped, all of it", width, number);
	else if (s->error != 0)
		snprintf(value, sizeof value, "%-*s  %s %.4g ulp", width, number,
			(s->error < 0) == mpfr_signbit(sum) ? "gains" : "loses", fabs(ldexp(s->error, (int)-line)));
	else
		snprintf(value, sizeof value, "%s", number);
	r = hu_frame_add(f, name, t, w->y ? hu_lowest_bit(t, line) : hu_explain_line(t, a->f), value);
	r->line = line;
	r->sign = mpfr_signbit(t) ? "−" : i ? "+" : "";
	if (i || w->start != 0) {
		mpfr_set_d(after, isfinite(s->after) ? s->after : 0, MPFR_RNDN);
		if (isfinite(s->after)) /* in as many digits as the addends */
			snprintf(number, sizeof number, "%.10g", s->after);
		else
			hu_explain_number(s->after, a->f, number);
		r = hu_frame_add(f, "", after, line, number);
		r->line = line;
		r->sign = mpfr_signbit(after) ? "−" : "=";
	}
	mpfr_clears(t, sum, after, (mpfr_ptr)0);
}

/* Returns 1 for steps that are drawn; the others are counted. */
static int
drawn(int i, int n)
{
	return n <= FIRST + LAST + 1 || i < FIRST || i >= n - LAST;
}

/* Returns the number of characters of the longest addend that is drawn. */
static int
widest(const hu_seen *w)
{
	int width = 0;
	mpfr_t t;

	mpfr_init2(t, 106);
	for (int i = 0; i < w->n; i++) {
		term(t, w, i);
		int n = drawn(i, w->n) ? snprintf(NULL, 0, "%.10g", fabs(mpfr_get_d(t, MPFR_RNDN))) : 0;
		width = n > width ? n : width;
	}
	mpfr_clear(t);
	return width;
}

static void
say_total(hu_drawing *d, const hu_arithmetic *a, const hu_seen *w, const step *s, const char *prefix, int from)
{
	char got[40], terms[48];
	int swamped = 0, first = 0, rounded = 0;
	double error;
	mpfr_t sum, t;

	mpfr_init2(sum, HU_EXPLAIN_EXACT);
	mpfr_init2(t, 106);
	mpfr_set_d(sum, w->start, MPFR_RNDN);
	for (int i = 0; i < w->n; i++) {
		term(t, w, i);
		mpfr_add(sum, sum, t, MPFR_RNDN);
		swamped += s[i].swamped;
		first = first ? first : s[i].swamped ? i + 1 : 0;
		rounded += s[i].error != 0;
	}
	mpfr_d_sub(t, w->s, sum, MPFR_RNDN);
	error = ldexp(fabs(mpfr_get_d(t, MPFR_RNDN)), (int)-hu_explain_line(sum, a->f));
	snprintf(terms, sizeof terms, w->n == 1 ? "the term as stored is" : "the %d terms as stored sum to", w->n);
	hu_drawing_words(d, "Exactly, %s %.17g; the sum computed is %s, %.6g ulp off.", terms,
		mpfr_get_d(sum, MPFR_RNDN), hu_explain_number(w->s, a->f, got), isfinite(w->s) ? error : INFINITY);
	if (swamped)
		hu_drawing_words(d, "%d of %d addition%s %s inexact; %d addend%s %s%d.", rounded, w->n,
			w->n > 1 ? "s" : "", rounded == 1 ? "is" : "are", swamped,
			swamped > 1 ? "s are swamped, the first of them" : " is swamped:", prefix, first + from - 1);
	else if (rounded)
		hu_drawing_words(d, "%d of %d addition%s %s inexact; no addend is swamped.", rounded, w->n,
			w->n > 1 ? "s" : "", rounded == 1 ? "is" : "are");
	else
		hu_drawing_words(d, "Every addition is exact.");
	mpfr_clears(sum, t, (mpfr_ptr)0);
}

static void
leave_out(hu_frame *f, const step *s, int from, int to)
{
	char words[128];
	int swamped = 0, rounded = 0;

	for (int i = from; i < to; i++) {
		swamped += s[i].swamped;
		rounded += s[i].error != 0;
	}
	snprintf(words, sizeof words, "%d more additions: %d inexact, %d swamped", to - from, rounded, swamped);
	hu_frame_leave_out(f, words);
}

void
hu_explain_steps(
	hu_drawing *d, const hu_arithmetic *a, const hu_seen *w, const char *heading, const char *prefix, int first)
{
	step *s = hu_xcalloc((size_t)w->n, sizeof *s);
	double before = w->start;
	char name[32];
	int width = widest(w);
	hu_frame f;
	mpfr_t sum;

	mpfr_init2(sum, HU_EXPLAIN_EXACT);
	for (int i = 0; i < w->n; i++) {
		mpfr_t t;
		mpfr_init2(t, 106);
		term(t, w, i);
		s[i].before = before;
		s[i].after = before = w->partial[i];
		mpfr_add_d(sum, t, s[i].before, MPFR_RNDN);
		mpfr_d_sub(sum, isfinite(before) ? before : 0, sum, MPFR_RNDN);
		s[i].error = isfinite(before) ? mpfr_get_d(sum, MPFR_RNDN) : 0;
		s[i].swamped = mpfr_regular_p(t) && s[i].before != 0 && before == s[i].before;
		mpfr_clear(t);
	}
	hu_frame_init(&f);
	for (int i = 0; i < w->n; i++) {
		if (!drawn(i, w->n)) {
			leave_out(&f, s, FIRST, w->n - LAST);
			i = w->n - LAST;
		}
		snprintf(name, sizeof name, "%s%d", prefix, first + i);
		draw_step(&f, a, w, i, &s[i], name, width);
	}
	hu_frame_draw(&f, d, heading);
	hu_frame_release(&f);
	say_total(d, a, w, s, prefix, first);
	mpfr_clear(sum);
	free(s);
}
