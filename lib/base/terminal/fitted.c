/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/terminal/fitted.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* GAP: blanks between columns. NAME: names are shortened to it before columns are left out. SHORTEST: no name is
   shortened further. PROSE: so narrow may wrapped text be. */
enum { GAP = 2, NAME = 24, SHORTEST = 8, PROSE = 24 };

void
hu_fitted_release(hu_fitted *t)
{
	for (size_t i = 0; i < t->ncell; i++)
		free(t->cell[i]);
	free(t->cell);
	for (size_t i = 0; i < t->n; i++)
		free(t->heading[i]);
	memset(t, 0, sizeof *t);
}

void
hu_fitted_column_add(hu_fitted *t, hu_fitted_column c)
{
	HU_ASSERT(t->n < HU_FITTED_MOST && !t->ncell);
	t->heading[t->n] = hu_xstrdup(c.heading);
	t->column[t->n++] = c;
}

void
hu_fitted_add(hu_fitted *t, const char *heading, int left, int rank)
{
	hu_fitted_column_add(t, (hu_fitted_column){ .heading = heading, .left = left, .rank = rank });
}

void
hu_fitted_cell(hu_fitted *t, const char *text)
{
	HU_GROW(t->cell, t->ncell, t->capcell);
	t->cell[t->ncell++] = hu_xstrdup(text);
}

void
hu_fitted_number(hu_fitted *t, const char *format, double x)
{
	char text[64];

	snprintf(text, sizeof text, format, x);
	hu_fitted_cell(t, x != x ? "-" : text);
}

size_t
hu_fitted_wide(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xC0) != 0x80;
	return n;
}

/* Returns the bytes of the first n characters. */
static size_t
bytes_of(const char *s, size_t n)
{
	size_t i = 0;

	for (; s[i]; i++)
		if ((s[i] & 0xC0) != 0x80 && !n--)
			break;
	return i;
}

/* Returns the width of column i, and 0 where there is nothing in it to show. */
static size_t
width_of(const hu_fitted *t, size_t i, int streams)
{
	const hu_fitted_column *c = &t->column[i];
	size_t most = hu_fitted_wide(t->heading[i]);
	int any = !c->rank || streams || (c->keep && t->limit == SIZE_MAX);

	most = (size_t)c->least > most ? (size_t)c->least : most;
	for (size_t k = i; k < t->ncell; k += t->n) {
		size_t w = hu_fitted_wide(t->cell[k]);
		w = c->most && w > (size_t)c->most ? (size_t)c->most : w;
		most = w > most ? w : most;
		any |= strcmp(t->cell[k], "-") != 0;
	}
	return any ? most : 0;
}

/* Returns what all columns take, prose as little as it can, and names as well where `most` says how wide they may be;
   sets *last to the column that is to be left out first, or to t->n. */
static size_t
sum(const hu_fitted *t, size_t most, size_t *last)
{
	size_t all = 0;
	int rank = 1;

	*last = t->n;
	for (size_t i = 0; i < t->n; i++) {
		const hu_fitted_column *c = &t->column[i];
		size_t w = t->width[i], limit = c->prose ? PROSE : c->left ? most : w;
		w = w > limit ? limit : w;
		all += w ? w + (all ? GAP : 0) : 0;
		if (w && c->rank >= rank) {
			rank = c->rank;
			*last = i;
		}
	}
	return all;
}

/* Takes from the widest names what is too much, and gives prose what is left. */
static void
shorten(hu_fitted *t, size_t width)
{
	size_t ignored, all = sum(t, SIZE_MAX, &ignored), left = all < width ? width - all : 0;

	while (all > width) {
		size_t widest = t->n;
		for (size_t i = 0; i < t->n; i++)
			if (t->column[i].left && !t->column[i].prose && t->width[i] > SHORTEST &&
				(widest == t->n || t->width[i] > t->width[widest]))
				widest = i;
		if (widest == t->n)
			break;
		t->width[widest]--;
		all--;
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->column[i].prose && t->width[i] > PROSE) {
			size_t more = t->width[i] - PROSE < left ? t->width[i] - PROSE : left;
			t->width[i] = PROSE + more;
			left -= more;
		}
}

static void
choose(hu_fitted *t, size_t width, int streams)
{
	size_t last;

	t->hidden = 0;
	t->limit = width;
	for (size_t i = 0; i < t->n; i++)
		t->width[i] = width_of(t, i, streams);
	for (; sum(t, NAME, &last) > width && last < t->n; t->hidden++)
		t->width[last] = 0;
	shorten(t, width);
}

/* Appends a text of at most w columns; a longer one loses its middle, which names differ in least, unless it is to be
   whole. */
static void
add_short(hu_str *b, const char *s, size_t w, int whole)
{
	size_t n = hu_fitted_wide(s), head = (w - 1) / 2;

	if (n <= w || whole) {
		hu_str_add(b, s);
		return;
	}
	hu_str_addn(b, s, bytes_of(s, head));
	hu_str_add(b, "…");
	hu_str_add(b, s + bytes_of(s, n - (w - 1 - head)));
}

/* Appends as many words of *s as fit w columns, at least one or a part of one, and steps behind them. */
static void
add_words(hu_str *b, const char **s, size_t w)
{
	size_t fits = bytes_of(*s, w), n = fits;

	if ((*s)[fits] && (*s)[fits] != ' ') {
		while (n && (*s)[n - 1] != ' ')
			n--;
		n = n ? n : fits;
	}
	hu_str_addn(b, *s, n);
	*s += n;
	*s += strspn(*s, " ");
}

/* Appends column i's part of a line, of the text at *s, behind which it steps. */
static void
add_cell(hu_str *b, const hu_fitted *t, size_t i, const char **s)
{
	const hu_fitted_column *c = &t->column[i];
	size_t w = t->width[i], n;
	hu_str part;

	hu_str_init(&part);
	int wraps = c->prose && (c->most || t->limit != SIZE_MAX);
	if (wraps)
		add_words(&part, s, w);
	else
		add_short(&part, *s, w, t->limit == SIZE_MAX);
	if (!wraps)
		*s = "";
	while (part.len && part.s[part.len - 1] == ' ')
		part.s[--part.len] = 0;
	n = hu_fitted_wide(part.s);
	hu_str_addf(b, "%*s%s%*s", (int)(!c->left && n < w ? w - n : 0), "", part.s,
		(int)(c->left && n < w ? w - n : 0), "");
	hu_str_release(&part);
}

/* Prints a row, in several lines where prose is wrapped. */
static void
print_row(const hu_fitted *t, char *const *text, int headings)
{
	const char *rest[HU_FITTED_MOST];
	int more = 1;

	for (size_t i = 0; i < t->n; i++)
		rest[i] = headings ? t->heading[i] : text[i];
	while (more) {
		hu_str b;
		hu_str_init(&b);
		more = 0;
		for (size_t i = 0, any = 0; i < t->n; i++) {
			if (!t->width[i])
				continue;
			if (any++)
				hu_str_addf(&b, "%*s", GAP, "");
			add_cell(&b, t, i, &rest[i]);
			more |= *rest[i] != 0;
		}
		while (b.len && b.s[b.len - 1] == ' ')
			b.s[--b.len] = 0;
		fprintf(t->to ? t->to : stdout, "%s\n", b.s);
		hu_str_release(&b);
	}
}

static void
print_rows(const hu_fitted *t)
{
	for (size_t k = 0; k + t->n <= t->ncell; k += t->n)
		print_row(t, t->cell + k, 0);
}

void
hu_fitted_print(hu_fitted *t, size_t width)
{
	choose(t, width, 0);
	print_row(t, NULL, 1);
	print_rows(t);
}

void
hu_fitted_begin(hu_fitted *t, size_t width)
{
	choose(t, width, 1);
	print_row(t, NULL, 1);
}

void
hu_fitted_flush(hu_fitted *t)
{
	print_rows(t);
	for (size_t i = 0; i < t->ncell; i++)
		free(t->cell[i]);
	t->ncell = 0;
}

void
hu_fitted_left_out(const hu_fitted *t, const char *where)
{
	if (t->hidden)
		fprintf(t->to ? t->to : stdout, "%zu column%s left out to fit %zu: %s.\n", t->hidden,
			t->hidden == 1 ? " is" : "s are", t->limit, where);
}

void
hu_fitted_prose(const char *text, size_t indent)
{
	size_t width = hu_fitted_width(), before = 0;
	hu_str b;

	do {
		hu_str_init(&b);
		add_words(&b, &text, width - before);
		while (b.len && b.s[b.len - 1] == ' ')
			b.s[--b.len] = 0;
		printf("%*s%s\n", (int)before, "", b.s);
		hu_str_release(&b);
		before = indent;
	} while (*text);
}

size_t
hu_fitted_width(void)
{
	enum { LEAST = 80 };
	const char *given = getenv("COLUMNS");
	struct winsize w;
	long n = given ? strtol(given, NULL, 10) : 0;

	if (n <= 0 && isatty(STDOUT_FILENO))
		n = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : LEAST;
	return n <= 0 ? SIZE_MAX : n < LEAST ? LEAST : (size_t)n;
}
