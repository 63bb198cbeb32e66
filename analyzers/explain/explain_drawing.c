/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/explain/explain_drawing.h"

#include "lib/base/mem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const hu_ink_look *
hu_ink_of(int ink)
{
	static const hu_ink_look looks[HU_INKS] = {
#define INK(id, ansi, fill, text, legend) { ansi, fill, text, legend },
#include "analyzers/explain/explain_inks.def"
#undef INK
	};

	return &looks[ink];
}

void
hu_drawing_init(hu_drawing *d)
{
	memset(d, 0, sizeof *d);
}

static void
release_panel(hu_explain_panel *p)
{
	for (int i = 0; i < p->strips; i++) {
		free(p->strip[i].label);
		free(p->strip[i].value);
		free(p->strip[i].cell);
	}
	free(p->strip);
	free(p->column);
	free(p->heading);
}

void
hu_drawing_release(hu_drawing *d)
{
	for (int i = 0; i < d->n; i++) {
		free(d->item[i].text);
		release_panel(&d->item[i].panel);
	}
	free(d->item);
	hu_drawing_init(d);
}

static hu_drawn *
add(hu_drawing *d, hu_drawn_kind kind)
{
	HU_GROW(d->item, d->n, d->cap);
	memset(&d->item[d->n], 0, sizeof *d->item);
	d->item[d->n].kind = kind;
	return &d->item[d->n++];
}

static char *
printed(const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	s = hu_xmalloc((size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

void
hu_drawing_title(hu_drawing *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, HU_DRAWN_TITLE)->text = printed(fmt, ap);
	va_end(ap);
}

void
hu_drawing_words(hu_drawing *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, HU_DRAWN_WORDS)->text = printed(fmt, ap);
	va_end(ap);
}

hu_explain_panel *
hu_drawing_panel(hu_drawing *d, const char *heading, int columns)
{
	hu_explain_panel *p = &add(d, HU_DRAWN_PANEL)->panel;

	p->heading = hu_xstrdup(heading);
	p->columns = columns;
	p->column = hu_xcalloc((size_t)columns + 1, sizeof *p->column);
	return p;
}

hu_strip *
hu_panel_strip(hu_explain_panel *p, const char *label, const char *sign, const char *value)
{
	HU_GROW(p->strip, p->strips, p->cap);
	hu_strip *s = &p->strip[p->strips++];
	memset(s, 0, sizeof *s);
	s->label = hu_xstrdup(label);
	s->value = hu_xstrdup(value);
	s->sign = sign;
	s->line = s->chop = -1;
	s->cell = hu_xcalloc((size_t)p->columns + 1, sizeof *s->cell);
	return s;
}

int
hu_panel_slot(const hu_explain_panel *p, int column)
{
	for (int i = 0; i < p->strips; i++)
		if (p->strip[i].line == column || p->strip[i].chop == column)
			return 1;
	return 0;
}

void
hu_panel_heads(const hu_explain_panel *p, const double *from, const double *to, double gap, char *shown)
{
	enum { RANKS = 6 };

	memset(shown, 0, (size_t)p->columns);
	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < p->columns; i++) {
			int clear = *p->column[i].head && p->column[i].rank == rank;
			for (int k = 0; clear && k < p->columns; k++)
				clear = !shown[k] || from[i] >= to[k] + gap || from[k] >= to[i] + gap;
			shown[i] |= (char)clear;
		}
}

size_t
hu_text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

size_t
hu_text_line(const char *s, size_t width)
{
	size_t i = 0, n = 0, blank = 0;

	for (; s[i]; i++) {
		if (s[i] == ' ' && (n <= width || !blank))
			blank = i;
		if (s[i] == ' ' && n > width)
			return blank;
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	}
	return n > width && blank ? blank : i;
}
