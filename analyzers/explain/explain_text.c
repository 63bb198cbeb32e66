/* SPDX-License-Identifier: Apache-2.0
   Renders a drawing on a terminal: one character for each bit, the line below the last bit kept, colours where the
   terminal wants them. */
#include "analyzers/explain/explain_drawing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INDENT = 2, WORDS = 78 };

int
hu_drawing_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static void
spaces(FILE *out, size_t n)
{
	while (n--)
		fputc(' ', out);
}

static void
attribute(FILE *out, int colour, const char *code)
{
	if (colour && *code)
		fprintf(out, "\033[%sm", code);
}

/* Returns the characters of the gap that a line is drawn in: fewer where lines stand in several places. */
static size_t
wide(const hu_explain_panel *p)
{
	int slots = 0;

	for (int i = 0; i <= p->columns; i++)
		slots += hu_panel_slot(p, i);
	return slots > 2 ? 1 : 3;
}

/* Returns the characters before column i: a field's gap, a line's gap, columns left out. */
static size_t
gap(const hu_explain_panel *p, int i)
{
	size_t n = hu_panel_slot(p, i) ? wide(p) : 0;

	if (i < p->columns && p->column[i].before == '~')
		return n + 3;
	return n ? n : i < p->columns && p->column[i].before == ' ';
}

static size_t
place(const hu_explain_panel *p, int i)
{
	size_t at = 0;

	for (int k = 0; k <= i; k++)
		at += gap(p, k) + (k < i);
	return at;
}

static void
heads(FILE *out, const hu_explain_panel *p, size_t left, int colour)
{
	double *from = hu_xcalloc(2 * (size_t)p->columns + 2, sizeof *from), *to = from + p->columns;
	char *shown = hu_xcalloc((size_t)p->columns + 1, 1);
	size_t at = 0;

	for (int i = 0; i < p->columns; i++) {
		double n = (double)hu_text_width(p->column[i].head), x = (double)place(p, i);
		from[i] = p->column[i].ends ? x + 1 - n : x;
		from[i] = from[i] < 0 ? 0 : from[i];
		to[i] = from[i] + n;
	}
	hu_panel_heads(p, from, to, 1, shown);
	for (int i = 0; i < p->columns; i++) {
		if (!shown[i])
			continue;
		if (!at) {
			spaces(out, left);
			attribute(out, colour, "2");
		}
		spaces(out, (size_t)from[i] - (at ? at - 1 : 0));
		fputs(p->column[i].head, out);
		at = (size_t)to[i] + 1;
	}
	if (at) {
		attribute(out, colour, "0");
		fputc('\n', out);
	}
	free(shown);
	free(from);
}

/* Prints what stands before column i in strip s. */
static void
slot(FILE *out, const hu_explain_panel *p, const hu_strip *s, int i, int colour)
{
	if (hu_panel_slot(p, i)) {
		const char *blank = wide(p) > 1 ? " " : "";
		attribute(out, colour, s->line == i ? "1" : "35");
		fprintf(out, "%s%s%s", blank, s->line == i ? "│" : s->chop == i ? "┊" : " ", blank);
		attribute(out, colour, "0");
	} else if (i < p->columns && p->column[i].before == ' ') {
		fputc(' ', out);
	}
	if (i < p->columns && p->column[i].before == '~')
		fputs(" ⋯ ", out);
}

static void
bits(FILE *out, const hu_explain_panel *p, const hu_strip *s, int colour)
{
	for (int i = 0; i < p->columns; i++) {
		hu_explain_cell c = s->cell[i];
		slot(out, p, s, i, colour);
		if (!c.digit) {
			fputc(' ', out);
			continue;
		}
		attribute(out, colour, hu_ink_of(c.ink)->ansi);
		if (c.ink == HU_INK_PAD)
			fputs("·", out);
		else
			fputc(c.digit, out);
		attribute(out, colour, *hu_ink_of(c.ink)->ansi ? "0" : "");
	}
	slot(out, p, s, p->columns, colour);
	fputs(s->more ? "…" : " ", out);
}

static void
rule(FILE *out, const hu_explain_panel *p, const hu_strip *s, size_t left)
{
	size_t line = s->line >= 0 ? place(p, s->line) - wide(p) / 2 - 1 -
					     (s->line < p->columns && p->column[s->line].before == '~' ? 3 : 0)
				   : 0,
	       n = place(p, p->columns);

	spaces(out, left);
	for (size_t i = 0; i < n; i++)
		fputs(s->line >= 0 && i == line ? "┼" : "─", out);
	fputc('\n', out);
}

static void
panel(FILE *out, const hu_explain_panel *p, int colour)
{
	size_t label = 0;

	for (int i = 0; i < p->strips; i++) {
		size_t n = hu_text_width(p->strip[i].label);
		label = n > label ? n : label;
	}
	if (*p->heading) {
		spaces(out, INDENT);
		attribute(out, colour, "1");
		fputs(p->heading, out);
		attribute(out, colour, "0");
		fputc('\n', out);
	}
	heads(out, p, INDENT + 2 + label + 4, colour);
	for (int i = 0; i < p->strips; i++) {
		const hu_strip *s = &p->strip[i];
		if (s->rule)
			rule(out, p, s, INDENT + 2 + label + 4);
		spaces(out, INDENT + 2);
		fputs(s->label, out);
		spaces(out, label - hu_text_width(s->label) + 2);
		fputs(*s->sign ? s->sign : " ", out);
		fputc(' ', out);
		if (s->leaves_out) {
			fputs(s->value, out);
		} else {
			bits(out, p, s, colour);
			if (*s->value)
				fprintf(out, "  %s", s->value);
		}
		fputc('\n', out);
	}
}

static void
words(FILE *out, const char *text)
{
	while (*text) {
		size_t n = hu_text_line(text, WORDS - INDENT);
		spaces(out, INDENT);
		fwrite(text, 1, n, out);
		fputc('\n', out);
		for (text += n; *text == ' '; text++)
			;
	}
}

void
hu_drawing_text(const hu_drawing *d, FILE *out, int colour)
{
	for (int i = 0; i < d->n; i++) {
		const hu_drawn *it = &d->item[i];
		switch (it->kind) {
		case HU_DRAWN_TITLE:
			fputc('\n', out);
			attribute(out, colour, "1");
			fputs(it->text, out);
			attribute(out, colour, "0");
			fputs("\n\n", out);
			break;
		case HU_DRAWN_PANEL:
			if (i && it[-1].kind == HU_DRAWN_WORDS)
				fputc('\n', out);
			panel(out, &it->panel, colour);
			fputc('\n', out);
			break;
		case HU_DRAWN_WORDS: words(out, it->text); break;
		}
	}
}
