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

void
hu_fitted_release(hu_fitted *t)
{
	for (size_t i = 0; i < t->ncell; i++)
		free(t->cell[i]);
	free(t->cell);
	memset(t, 0, sizeof *t);
}

void
hu_fitted_add(hu_fitted *t, const char *heading, int left, int rank)
{
	HU_ASSERT(t->n < HU_FITTED_MOST && !t->ncell);
	t->column[t->n].heading = heading;
	t->column[t->n].left = left;
	t->column[t->n++].rank = rank;
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

/* The columns that a text takes: the characters of UTF-8 count, not its bytes. */
static size_t
wide(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xC0) != 0x80;
	return n;
}

/* Returns the width of column i, and 0 where there is nothing in it to show. */
static size_t
width_of(const hu_fitted *t, size_t i)
{
	size_t most = wide(t->column[i].heading);
	int any = !t->column[i].rank;

	for (size_t k = i; k < t->ncell; k += t->n) {
		size_t w = wide(t->cell[k]);
		most = w > most ? w : most;
		any |= strcmp(t->cell[k], "-") != 0;
	}
	return any ? most : 0;
}

static void
print_line(const hu_fitted *t, const size_t *w, char *const *text)
{
	hu_str b;

	hu_str_init(&b);
	for (size_t i = 0; i < t->n; i++) {
		const char *s = text ? text[i] : t->column[i].heading;
		size_t pad = w[i] > wide(s) ? w[i] - wide(s) : 0;
		if (!w[i])
			continue;
		if (b.len)
			hu_str_add(&b, "  ");
		hu_str_addf(
			&b, "%*s%s%*s", t->column[i].left ? 0 : (int)pad, "", s, t->column[i].left ? (int)pad : 0, "");
	}
	while (b.len && b.s[b.len - 1] == ' ')
		b.s[--b.len] = 0;
	puts(b.s);
	hu_str_release(&b);
}

void
hu_fitted_print(const hu_fitted *t, size_t width)
{
	size_t w[HU_FITTED_MOST], all;

	for (size_t i = 0; i < t->n; i++)
		w[i] = width_of(t, i);
	for (;;) {
		size_t least = 0;
		int rank = 0;
		all = 0;
		for (size_t i = 0; i < t->n; i++) {
			all += w[i] ? w[i] + (all ? 2 : 0) : 0;
			if (w[i] && t->column[i].rank && t->column[i].rank >= rank) {
				rank = t->column[i].rank;
				least = i;
			}
		}
		if (all <= width || !rank)
			break;
		w[least] = 0;
	}
	print_line(t, w, NULL);
	for (size_t k = 0; k + t->n <= t->ncell; k += t->n)
		print_line(t, w, t->cell + k);
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
