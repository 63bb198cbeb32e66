/* SPDX-License-Identifier: Apache-2.0
   The part of json_table.h that writes a table as LaTeX, Markdown and TSV. */
#include "reports/rows/json_table.h"

#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"
#include "reports/human.h"
#include "reports/tex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 45 }; /* rows of a small table that fit on a page of A4 or letter */

/* A decimal number in parts: -1.5e-07 has the digits "-1.5" and the power "-7", NULL where no e is. */
typedef struct decimal {
	char digits[HU_TSV_REAL];
	const char *power;
} decimal;

/* Returns 0 where text is no decimal number. A real is rounded to so many significant digits. */
static int
read_decimal(decimal *d, const char *text, int digits)
{
	const char *s = text + (*text == '-');
	size_t whole = strspn(s, "0123456789"), point = s[whole] == '.' ? 1 + strspn(s + whole + 1, "0123456789") : 0;
	const char *e = s + whole + point, *end = e;

	if (!whole || point == 1)
		return 0;
	if (*e == 'e' || *e == 'E') {
		size_t sign = e[1] == '-' || e[1] == '+', n = strspn(e + 1 + sign, "0123456789");
		if (!n)
			return 0;
		end = e + 1 + sign + n;
	}
	if (*end || strlen(text) >= HU_TSV_REAL)
		return 0;
	if (digits && (point || e != end))
		snprintf(d->digits, sizeof d->digits, "%.*g", digits, strtod(text, NULL));
	else
		strcpy(d->digits, text);
	char *power = strpbrk(d->digits, "eE");
	d->power = NULL;
	if (power) {
		*power++ = 0;
		power += *power == '+';
		char *zeros = power + (*power == '-'), *rest = zeros + strspn(zeros, "0");
		memmove(zeros, *rest ? rest : rest - 1, strlen(*rest ? rest : rest - 1) + 1);
		d->power = power;
	}
	return 1;
}

static int
infinite(const char *text)
{
	return !strcmp(text, "inf") || !strcmp(text, "-inf");
}

static const char *
cell(const hu_json_table *g, size_t row, int column)
{
	return g->cell[row * (size_t)g->columns + (size_t)column];
}

/* Returns 1 where every cell of the column is a number or missing. */
static int
numbers(const hu_json_table *g, int column)
{
	decimal d;

	for (size_t r = 0; r < g->rows; r++) {
		const char *text = cell(g, r, column);
		if (text && !read_decimal(&d, text, 0) && !infinite(text) && strcmp(text, "nan"))
			return 0;
	}
	return 1;
}

static void
tex_cell(hu_str *b, const char *text, int digits)
{
	decimal d;

	if (!text)
		hu_str_add(b, "--");
	else if (infinite(text))
		hu_str_addf(b, "$%s\\infty$", *text == '-' ? "-" : "");
	else if (!read_decimal(&d, text, digits))
		hu_tex_text(b, text);
	else if (d.power)
		hu_str_addf(b, "$%s \\times 10^{%s}$", d.digits, d.power);
	else
		hu_str_addf(b, *d.digits == '-' ? "$%s$" : "%s", d.digits);
}

/* One line of cells, the names of the columns where row is rows. */
static void
tex_line(hu_str *b, const hu_json_table *g, size_t row, int digits)
{
	for (int k = 0; k < g->columns; k++) {
		hu_str_add(b, k ? " & " : "");
		if (row == g->rows)
			hu_tex_text(b, g->column[k].name);
		else
			tex_cell(b, cell(g, row, k), digits);
	}
	hu_str_add(b, " \\\\\n");
}

static void
write_tex(hu_str *b, const hu_json_table *g, int digits, const char *command)
{
	int longer = g->rows > PAGE;
	const char *environment = longer ? "longtable" : "tabular";

	hu_str_addf(b, "%% %s\n%% halfulp %s\n%% needs \\usepackage{booktabs}%s\n\\begin{%s}{", command,
		hu_build_version(), longer ? " and \\usepackage{longtable}" : "", environment);
	for (int k = 0; k < g->columns; k++)
		hu_str_add(b, numbers(g, k) ? "r" : "l");
	hu_str_add(b, "}\n\\toprule\n");
	tex_line(b, g, g->rows, digits);
	hu_str_addf(b, "\\midrule\n%s", longer ? "\\endhead\n" : "");
	for (size_t r = 0; r < g->rows; r++)
		tex_line(b, g, r, digits);
	hu_str_addf(b, "\\bottomrule\n\\end{%s}\n", environment);
}

/* Escapes what Markdown would take for markup. */
static void
markdown_text(hu_str *b, const char *text)
{
	for (const char *s = text; *s; s++) {
		int inside = s > text && isalnum((unsigned char)s[-1]) && isalnum((unsigned char)s[1]);
		if (strchr("\\`*[]<>|$&~", *s) || (*s == '_' && !inside))
			hu_str_add(b, "\\");
		hu_str_addn(b, s, 1);
	}
}

static void
write_markdown(hu_str *b, const hu_json_table *g, int digits, const char *command)
{
	decimal d;

	hu_str_add(b, "<!-- ");
	for (const char *s = command; *s; s++) /* two dashes would end the comment in some readers */
		hu_str_add(b, *s == '-' && s[1] == '-' ? "&#45;" : (char[]){ *s, 0 });
	hu_str_addf(b, "; halfulp %s -->\n", hu_build_version());
	for (size_t r = 0; r <= g->rows + 1; r++) { /* names, dashes, rows */
		hu_str_add(b, "|");
		for (int k = 0; k < g->columns; k++) {
			const char *text = r > 1 ? cell(g, r - 2, k) : g->column[k].name;
			hu_str_add(b, " ");
			if (r == 1)
				hu_str_add(b, numbers(g, k) ? "---:" : "---");
			else if (!text)
				hu_str_add(b, "–");
			else if (r > 1 && read_decimal(&d, text, digits))
				hu_str_addf(b, "%s%s%s", d.digits, d.power ? "e" : "", d.power ? d.power : "");
			else
				markdown_text(b, text);
			hu_str_add(b, " |");
		}
		hu_str_add(b, "\n");
	}
}

static void
write_tsv(hu_str *b, const hu_json_table *g, int digits, const char *command)
{
	hu_tsv t;
	hu_str names;
	decimal d;
	char text[2 * HU_TSV_REAL];

	hu_str_init(&names);
	hu_tsv_init(&t);
	hu_tsv_note(&t, "halfulp", "%s", hu_build_version());
	hu_tsv_note(&t, "command", "%s", command);
	for (int k = 0; k < g->columns; k++)
		hu_str_addf(&names, "%s%s", k ? " " : "", g->column[k].name);
	hu_tsv_header(&t, names.s);
	for (size_t r = 0; r < g->rows; r++)
		for (int k = 0; k < g->columns; k++) {
			const char *s = cell(g, r, k);
			if (s && digits && read_decimal(&d, s, digits)) {
				snprintf(text, sizeof text, "%s%s%s", d.digits, d.power ? "e" : "",
					d.power ? d.power : "");
				s = text;
			}
			hu_tsv_text(&t, s ? s : "-");
		}
	hu_str_addn(b, t.text.s, t.text.len);
	hu_str_release(&names);
	hu_tsv_release(&t);
}

void
hu_json_table_write(hu_str *to, const hu_json_table *g, hu_json_table_kind kind, int digits, const char *command)
{
	switch (kind) {
	case HU_JSON_TABLE_TEX: write_tex(to, g, digits, command); break;
	case HU_JSON_TABLE_MARKDOWN: write_markdown(to, g, digits, command); break;
	case HU_JSON_TABLE_TSV: write_tsv(to, g, digits, command); break;
	}
}
