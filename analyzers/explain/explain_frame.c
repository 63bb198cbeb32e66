/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/explain/explain_frame.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Columns: shown below the highest line and above the lowest one, where a number is longer; a run
   without digits that is left out; around a line always shown. */
enum { BELOW = 27, ABOVE = 64, FOLD = 6, NEAR = 3, HALF = 24 };

typedef struct span { long top, bottom; char *shown; } span;

void
hu_frame_init(hu_frame *f)
{
	memset(f, 0, sizeof *f);
}

void
hu_frame_release(hu_frame *f)
{
	for (int i = 0; i < f->n; i++) {
		mpz_clear(f->row[i].m);
		free(f->row[i].label);
		free(f->row[i].value);
	}
	free(f->row);
	hu_frame_init(f);
}

long
hu_lowest_bit(mpfr_srcptr v, long otherwise)
{
	mpz_t m;
	long e, w;

	if (!mpfr_regular_p(v))
		return otherwise;
	mpz_init(m);
	e = (long)mpfr_get_z_2exp(m, v);
	w = (long)mpz_scan1(m, 0) + e;
	mpz_clear(m);
	return w;
}

static hu_aligned *
fresh(hu_frame *f, const char *label, const char *value)
{
	HU_GROW(f->row, f->n, f->cap);
	hu_aligned *r = &f->row[f->n++];
	memset(r, 0, sizeof *r);
	r->label = hu_xstrdup(label);
	r->value = hu_xstrdup(value);
	r->sign = "";
	r->line = r->chop = HU_NO_LINE;
	r->changed = -1;
	r->last = 1;
	mpz_init(r->m);
	return r;
}

hu_aligned *
hu_frame_add(hu_frame *f, const char *label, mpfr_srcptr v, long last, const char *value)
{
	hu_aligned *r = fresh(f, label, value);

	r->first = r->last = last;
	if (mpfr_regular_p(v)) {
		long low = hu_lowest_bit(v, last);
		r->e = (long)mpfr_get_z_2exp(r->m, v);
		mpz_abs(r->m, r->m);
		r->first = (long)mpfr_get_exp(v) - 1;
		r->last = low < last ? low : last;
		if (r->last > r->first)
			r->last = r->first;
	}
	r->sign = mpfr_signbit(v) ? "−" : "";
	return r;
}

void
hu_frame_marks(hu_frame *f, long line, long last)
{
	hu_aligned *r = fresh(f, "", "");

	r->marks = 1;
	r->line = line;
	r->last = last;
	r->first = last - 1;
}

void
hu_frame_leave_out(hu_frame *f, const char *value)
{
	fresh(f, "⋮", value)->leaves_out = 1;
}

static int
bit(const hu_aligned *r, long weight)
{
	return weight >= r->e && mpz_tstbit(r->m, (mp_bitcnt_t)(weight - r->e));
}

static void
show(span *s, long from, long to)
{
	for (long w = from; w >= to; w--)
		if (w <= s->top && w >= s->bottom)
			s->shown[s->top - w] = 1;
}

/* Chooses which weights get a column: those of digits and those beside a line, except those too far away. */
static void
choose(const hu_frame *f, span *s)
{
	long high = HU_NO_LINE, low = -HU_NO_LINE,
	     below = 0; /* the highest line, and the lowest, below which rows have no interest */

	s->top = HU_NO_LINE;
	s->bottom = -HU_NO_LINE;
	for (int i = 0; i < f->n; i++) {
		const hu_aligned *r = &f->row[i];
		if (r->first >= r->last) {
			s->top = r->first > s->top ? r->first : s->top;
			s->bottom = r->last < s->bottom ? r->last : s->bottom;
		}
		if (r->line != HU_NO_LINE) {
			s->bottom = r->line - NEAR < s->bottom ? r->line - NEAR : s->bottom;
			s->top = r->line > s->top ? r->line : s->top;
			high = r->line > high ? r->line : high;
		}
		if (r->chop != HU_NO_LINE)
			s->bottom = r->chop - 1 < s->bottom ? r->chop - 1 : s->bottom;
		long end = r->chop != HU_NO_LINE ? r->chop : r->line;
		low = end != HU_NO_LINE && end < low ? end : low;
	}
	if (s->top < s->bottom) /* no row has digits */
		s->top = s->bottom = 0;
	s->shown = hu_xcalloc((size_t)(s->top - s->bottom) + 2, 1);
	for (int i = 0; i < f->n; i++) {
		const hu_aligned *r = &f->row[i];
		show(s, r->first, r->exact && r->line > r->last ? r->line : r->last);
		for (long w = r->line; r->exact && w >= r->last;
			w--) /* its zeros are of no interest where no operand has digits */
			if (bit(r, w))
				show(s, w, w);
		if (r->line != HU_NO_LINE)
			show(s, r->line, r->line - NEAR);
		if (r->chop != HU_NO_LINE)
			show(s, r->chop + 1, r->chop - 1);
	}
	for (long w = s->top, run = 0; w >= s->bottom - 1; w--) { /* short runs are not left out */
		int on = w < s->bottom || s->shown[s->top - w];
		if (on && run && run < FOLD)
			show(s, w + run, w + 1);
		run = on ? 0 : run + 1;
	}
	for (long w = s->top; w >= s->bottom; w--) /* a number wider than the page is cut */
		if (w < low && s->shown[s->top - w] && ++below > BELOW)
			s->shown[s->top - w] = 0;
	if (high != HU_NO_LINE && s->top - high > ABOVE)
		memset(s->shown + HALF, 0, (size_t)(s->top - high - 2 * HALF));
	while (s->bottom < s->top && !s->shown[s->top - s->bottom])
		s->bottom++;
}

static unsigned char
ink(const hu_frame *f, const hu_aligned *r, long w)
{
	long down = r->line - w;

	if (r->changed >= 0 && bit(r, w) != bit(&f->row[r->changed], w))
		return HU_INK_CHANGED;
	if (r->chop != HU_NO_LINE && w < r->chop)
		return HU_INK_CHOPPED;
	if (r->line != HU_NO_LINE && down > 0) {
		if (r->chop != HU_NO_LINE && !r->exact)
			return HU_INK_EXTRA;
		return !r->exact ? HU_INK_LOST : down == 1 ? HU_INK_GUARD : down == 2 ? HU_INK_ROUND : HU_INK_STICKY;
	}
	return w == r->first && !r->plain && bit(r, w) ? HU_INK_LEADING : HU_INK_KEPT;
}

static void
fill(const hu_frame *f, const hu_aligned *r, const span *s, hu_strip *to)
{
	int k = 0;

	to->rule = r->rule;
	to->leaves_out = r->leaves_out;
	to->more = r->more || (r->last < s->bottom && r->first >= r->last);
	for (long w = s->top; w >= s->bottom; w--) {
		if (!s->shown[s->top - w])
			continue;
		if (r->marks) {
			long down = r->line - w;
			if (down > 0 && w >= r->last)
				to->cell[k] = (hu_explain_cell){ "GRS-"[down > 3 ? 3 : down - 1], HU_INK_MARK };
		} else if (!r->leaves_out) {
			int in = w <= r->first && w >= r->last;
			to->cell[k].digit = in ? (char)('0' + bit(r, w)) : '.';
			to->cell[k].ink = in ? ink(f, r, w) : HU_INK_PAD;
		}
		if (w > r->line && r->line != HU_NO_LINE)
			to->line = k + 1;
		if (w == r->line)
			to->line = k + 1;
		if (w >= r->chop && r->chop != HU_NO_LINE)
			to->chop = k + 1;
		k++;
	}
}

/* Writes the weight of column i above it. */
static void
head(hu_explain_panel *p, const long *weight, int i, int ends, int rank)
{
	hu_column *c = &p->column[i];

	if (*c->head && c->rank <= rank)
		return;
	snprintf(c->head, sizeof c->head, "2^%ld", weight[i]);
	c->ends = ends;
	c->rank = rank;
}

/* Ranks the heads: lines come first, then the top, the ends of what is left out, the last column. */
static void
heads(hu_explain_panel *p, const long *weight)
{
	for (int i = 0; i < p->strips; i++) {
		if (p->strip[i].line > 0)
			head(p, weight, p->strip[i].line - 1, p->strip[i].line > 1, 0);
		if (p->strip[i].chop > 0)
			head(p, weight, p->strip[i].chop - 1, 1, 1);
	}
	head(p, weight, 0, 0, 2);
	for (int i = 1; i < p->columns; i++)
		if (p->column[i].before == '~')
			head(p, weight, i, 0, 3);
	head(p, weight, p->columns - 1, 1, 4);
}

void
hu_frame_draw(const hu_frame *f, hu_drawing *d, const char *heading)
{
	span s;
	int columns = 0, k = 0;
	long before, *weight;

	choose(f, &s);
	for (long w = s.top; w >= s.bottom; w--)
		columns += s.shown[s.top - w];
	hu_explain_panel *p = hu_drawing_panel(d, heading, columns);
	weight = hu_xcalloc((size_t)columns + 1, sizeof *weight);
	before = s.top + 1;
	for (long w = s.top; w >= s.bottom; w--)
		if (s.shown[s.top - w]) {
			weight[k] = w;
			p->column[k++].before = before - w > 1 ? '~' : 0;
			before = w;
		}
	for (int i = 0; i < f->n; i++) {
		const hu_aligned *r = &f->row[i];
		fill(f, r, &s, hu_panel_strip(p, r->label, r->sign, r->value));
	}
	heads(p, weight);
	free(weight);
	free(s.shown);
}
