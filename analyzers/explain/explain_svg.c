/* SPDX-License-Identifier: Apache-2.0
   Renders a drawing as a self-contained SVG for a slide: a square for each bit, coloured by its kind, the line below
   the last bit kept, a legend of the colours used, and the command that made it. */
#include "analyzers/explain/explain_drawing.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

/* Sizes in pixels. A digit of the monospaced fonts that are named is 0.602 of its size wide, the widest letters in
   running text 0.56. */
enum {
	MARGIN = 40,
	CELL = 25,
	HIGH = 30,
	SLOT = 16,
	FIELD = 10,
	LEFT_OUT = 44,
	LEAST = 880,
	SLIDE = 1060,
	BITS = 19,
	LABEL = 17,
	WORDS = 18,
	TITLE = 30,
	HEADING = 17,
	HEAD = 14,
	LEGEND = 15,
	RULE = 7
};

#define MONO "font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\""
#define SANS "font-family=\"Helvetica Neue,Helvetica,Arial,Liberation Sans,sans-serif\""

typedef enum tone {
#define TONE(id, light, dark) TONE_##id,
#include "analyzers/explain/explain_tones.def"
#undef TONE
} tone;

static const char *const tones[][2] = {
#define TONE(id, light, dark) { light, dark },
#include "analyzers/explain/explain_tones.def"
#undef TONE
};

typedef struct canvas {
	hu_str *s;
	double width, y, label;
	unsigned used; /* inks */
	int dark;
} canvas;

static const char *
fill_of(const canvas *t, tone which)
{
	return tones[which][t->dark];
}

/* Appends text escaped, with 2^-10 as a power. */
static void
spell(hu_str *s, const char *text, int powers)
{
	static const char *const raised[10] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
	int power = 0;

	for (; *text; text++) {
		if (powers && *text == '^' && (text[1] == '-' || (text[1] >= '0' && text[1] <= '9')) && !power) {
			power = 1;
			continue;
		}
		if (power && *text == '-' && power == 1) {
			hu_str_add(s, "⁻");
			power = 2;
			continue;
		}
		if (power && *text >= '0' && *text <= '9') {
			hu_str_add(s, raised[*text - '0']);
			power = 2;
			continue;
		}
		power = 0;
		if (*text == ' ' && text[1] == ' ') { /* columns of blanks are kept */
			hu_str_add(s, "\u00a0");
			continue;
		}
		switch (*text) {
		case '&': hu_str_add(s, "&amp;"); break;
		case '<': hu_str_add(s, "&lt;"); break;
		case '>': hu_str_add(s, "&gt;"); break;
		case '"': hu_str_add(s, "&quot;"); break;
		default: hu_str_addn(s, text, 1);
		}
	}
}

static void
text(canvas *t, double x, double y, int size, const char *font, const char *anchor, const char *fill, const char *extra,
	const char *what)
{
	hu_str_addf(t->s, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" %s fill=\"%s\"%s%s%s%s>", x, y, size, font,
		fill, *anchor ? " text-anchor=\"" : "", anchor, *anchor ? "\"" : "", extra);
	spell(t->s, what, 1);
	hu_str_add(t->s, "</text>\n");
}

static double
gap(const hu_explain_panel *p, int i)
{
	double g = hu_panel_slot(p, i) ? SLOT : 0;

	if (i < p->columns && p->column[i].before == '~')
		return g + LEFT_OUT;
	return g > 0 ? g : i < p->columns && p->column[i].before == ' ' ? FIELD : 0;
}

/* Returns the left edge of column i, from that of the first. */
static double
place(const hu_explain_panel *p, int i)
{
	double x = 0;

	for (int k = 0; k <= i; k++)
		x += gap(p, k) + (k < i ? CELL : 0);
	return x;
}

/* Measures the widths of a panel's labels and values. */
static void
measure(const hu_explain_panel *p, double *label, double *value)
{
	*label = *value = 0;
	for (int i = 0; i < p->strips; i++) {
		double n = (double)hu_text_width(p->strip[i].label) * LABEL * 0.61,
		       v = (double)hu_text_width(p->strip[i].value) * LABEL * 0.61;
		*label = n > *label ? n : *label;
		*value = v > *value && !p->strip[i].leaves_out ? v : *value;
	}
	*label += 44; /* a gap and the sign */
	*value += 30;
}

static void
heads(canvas *t, const hu_explain_panel *p, double left)
{
	double *from = hu_xcalloc(2 * (size_t)p->columns + 2, sizeof *from), *to = from + p->columns;
	char *shown = hu_xcalloc((size_t)p->columns + 1, 1);
	int any = 0;

	for (int i = 0; i < p->columns; i++) {
		double n = (double)hu_text_width(p->column[i].head) * HEAD * 0.56, x = left + place(p, i);
		from[i] = p->column[i].ends ? x + CELL - 2 - n : x + 2;
		to[i] = from[i] + n;
	}
	hu_panel_heads(p, from, to, 6, shown);
	for (int i = 0; i < p->columns; i++) {
		any |= shown[i];
		if (shown[i])
			text(t, p->column[i].ends ? to[i] : from[i], t->y + HEAD, HEAD, SANS,
				p->column[i].ends ? "end" : "", fill_of(t, TONE_SOFT), "", p->column[i].head);
	}
	t->y += any ? HEAD + 8 : 0;
	free(shown);
	free(from);
}

static void
cell(canvas *t, hu_explain_cell c, double x, double y)
{
	const hu_ink_look *look = hu_ink_of(c.ink);
	char digit[8] = { c.digit, 0 };

	if (!c.digit)
		return;
	if (c.ink == HU_INK_PAD) {
		hu_str_addf(t->s, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\" fill=\"%s\"/>\n", x + CELL / 2.0,
			y + HIGH / 2.0, fill_of(t, TONE_DOT));
		return;
	}
	if (*look->fill) {
		t->used |= 1u << c.ink;
		hu_str_addf(t->s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\"/>\n",
			x + 1, y + 1.5, CELL - 2, HIGH - 3, look->fill);
	}
	text(t, x + CELL / 2.0, y + HIGH / 2.0 + BITS * 0.36, c.ink == HU_INK_MARK ? HEAD : BITS, MONO, "middle",
		c.ink == HU_INK_MARK ? fill_of(t, TONE_MARK) : look->text,
		c.ink == HU_INK_MARK ? " font-weight=\"bold\"" : "", digit);
}

static void
upright(canvas *t, double x, double y, int chop, int rule)
{
	hu_str_addf(t->s, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-width=\"%s\"%s/>\n", x,
		y - (rule ? RULE + 1 : 1), y + HIGH + 1, fill_of(t, chop ? TONE_CHOP : TONE_LINE), chop ? "2" : "3",
		chop ? " stroke-dasharray=\"5 4\"" : "");
}

static void
strip(canvas *t, const hu_explain_panel *p, const hu_strip *s, double left)
{
	double y = t->y, base = y + HIGH / 2.0 + LABEL * 0.36, end = left + place(p, p->columns);

	if (s->rule) {
		hu_str_addf(t->s, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"%s\" stroke-width=\"1.6\"/>\n", left - 26,
			y + 3, end + 4, fill_of(t, TONE_HEADING));
		y = t->y += RULE;
		base += RULE;
	}
	text(t, left - 44, base, LABEL, MONO, "end", fill_of(t, TONE_LABEL), "", s->label);
	if (*s->sign)
		text(t, left - 22, base, LABEL + 2, MONO, "middle", fill_of(t, TONE_LABEL), "", s->sign);
	if (s->leaves_out) {
		text(t, left, base, LABEL, SANS, "", fill_of(t, TONE_SOFT), " font-style=\"italic\"", s->value);
		t->y += HIGH;
		return;
	}
	for (int i = 0; i <= p->columns; i++) {
		double x = left + place(p, i);
		if (s->line == i || s->chop == i)
			upright(t, x - SLOT / 2.0 - (i < p->columns && p->column[i].before == '~' ? LEFT_OUT : 0), y,
				s->line != i, s->rule);
		if (i < p->columns && p->column[i].before == '~')
			text(t, x - LEFT_OUT / 2.0, base, LABEL, SANS, "middle", fill_of(t, TONE_SOFT), "", "⋯");
		if (i < p->columns)
			cell(t, s->cell[i], x, y);
	}
	if (s->more)
		text(t, end + 4, base, LABEL, SANS, "", fill_of(t, TONE_MORE), "", "…");
	if (*s->value)
		text(t, end + (s->more ? 30 : 22), base, LABEL, MONO, "", fill_of(t, TONE_LABEL), "", s->value);
	t->y += HIGH;
}

static void
panel(canvas *t, const hu_explain_panel *p)
{
	double left = MARGIN + t->label;

	if (*p->heading) {
		text(t, MARGIN, t->y + HEADING, HEADING, SANS, "", fill_of(t, TONE_HEADING), " font-weight=\"bold\"",
			p->heading);
		t->y += HEADING + 14;
	}
	heads(t, p, left);
	for (int i = 0; i < p->strips; i++)
		strip(t, p, &p->strip[i], left);
	t->y += 20;
}

/* Draws a title; what follows the first colon is its second line. */
static void
title(canvas *t, const char *what)
{
	const char *colon = strstr(what, ": ");
	char first[256];

	snprintf(first, sizeof first, "%.*s", (int)(colon ? colon - what : (long)strlen(what)), what);
	text(t, MARGIN, t->y + TITLE * 0.75, TITLE, SANS, "", fill_of(t, TONE_TITLE), " font-weight=\"bold\"", first);
	t->y += TITLE + 6;
	if (colon) {
		text(t, MARGIN, t->y + HEADING, HEADING, SANS, "", fill_of(t, TONE_SOFT), "", colon + 2);
		t->y += HEADING + 4;
	}
	t->y += 18;
}

static void
words(canvas *t, const char *what)
{
	char line[512];

	while (*what) {
		size_t n = hu_text_line(what, (size_t)((t->width - 2 * MARGIN) / (WORDS * 0.5)));
		snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), what);
		text(t, MARGIN, t->y + WORDS, WORDS, SANS, "", fill_of(t, TONE_WORDS), "", line);
		t->y += WORDS * 1.45;
		for (what += n; *what == ' '; what++)
			;
	}
	t->y += 5;
}

static void
legend(canvas *t)
{
	double x = MARGIN;

	t->y += 16;
	for (int i = 0; i < HU_INKS; i++) {
		const hu_ink_look *look = hu_ink_of(i);
		if (!(t->used >> i & 1) || !look->legend)
			continue;
		double n = 20 + 8 + (double)hu_text_width(look->legend) * LEGEND * 0.52 + 22;
		if (x + n > t->width - MARGIN && x > MARGIN) {
			x = MARGIN;
			t->y += 26;
		}
		hu_str_addf(t->s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"20\" height=\"18\" rx=\"3\" fill=\"%s\"/>\n", x,
			t->y, look->fill);
		text(t, x + 28, t->y + 14, LEGEND, SANS, "", fill_of(t, TONE_HEADING), "", look->legend);
		x += n;
	}
	t->y += 34;
}

/* Draws the items below one another on the canvas, which is at least so wide. */
static void
lay_out(canvas *t, hu_str *body, const hu_drawing *d, double least)
{
	double grid = 0;

	hu_str_release(body);
	hu_str_init(body);
	*t = (canvas){ .s = body, .y = MARGIN, .dark = t->dark };
	for (int i = 0; i < d->n; i++) {
		double l, v;
		if (d->item[i].kind != HU_DRAWN_PANEL)
			continue;
		measure(&d->item[i].panel, &l, &v);
		t->label = l > t->label ? l : t->label;
		grid = place(&d->item[i].panel, d->item[i].panel.columns) + v > grid
			       ? place(&d->item[i].panel, d->item[i].panel.columns) + v
			       : grid;
	}
	t->width = 2 * MARGIN + t->label + grid > least ? 2 * MARGIN + t->label + grid : least;
	for (int i = 0; i < d->n; i++) {
		const hu_drawn *it = &d->item[i];
		switch (it->kind) {
		case HU_DRAWN_TITLE:
			t->y += i ? 36 : 0;
			title(t, it->text);
			break;
		case HU_DRAWN_PANEL:
			t->y += i && it[-1].kind == HU_DRAWN_WORDS ? 22 : 0;
			panel(t, &it->panel);
			break;
		case HU_DRAWN_WORDS: words(t, it->text); break;
		}
	}
	legend(t);
}

char *
hu_drawing_svg(const hu_drawing *d, const char *command, const hu_drawing_look *look)
{
	hu_str body, all;
	canvas t = { .dark = look->dark };

	hu_str_init(&body);
	hu_str_init(&all);
	lay_out(&t, &body, d, LEAST);
	double foot = 8 + MARGIN * 0.7, width = t.width, height = t.y + foot;
	if (look->slide) { /* once more on a canvas as wide as a slide of that height, where words are broken anew
			    */
		lay_out(&t, &body, d, height * 16 / 9 > SLIDE ? height * 16 / 9 : SLIDE);
		height = t.y + foot > t.width * 9 / 16 ? t.y + foot : t.width * 9 / 16;
		width = height * 16 / 9;
	}
	hu_str_addf(&body, "<text x=\"%d\" y=\"%.1f\" font-size=\"13\" " MONO " fill=\"%s\">", MARGIN,
		height - foot + 8, fill_of(&t, TONE_SOFT));
	spell(&body, command, 0);
	hu_str_add(&body, "</text>\n");
	hu_str_addf(&all,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
		look->slide ? 1280 : width, look->slide ? 720 : height, width, height);
	for (int i = 0; i < d->n && i < 1; i++)
		spell(&all, d->item[i].text ? d->item[i].text : "", 0);
	hu_str_addf(&all, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n%s</svg>\n",
		fill_of(&t, TONE_GROUND), body.s);
	hu_str_release(&body);
	return all.s;
}
