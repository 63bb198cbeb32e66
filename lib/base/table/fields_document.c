/* SPDX-License-Identifier: Apache-2.0
   The part of fields.h that makes tables for documents, and says what columns mean. */
#include "lib/base/table/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends x with six digits for LaTeX: 1.79769e+308 as $1.79769 \times 10^{308}$. */
static void
latex_number(hu_str *b, double x)
{
	char digits[32], *e;

	if (!isfinite(x)) {
		hu_str_add(b, isnan(x) ? "nan" : x > 0 ? "$\\infty$" : "$-\\infty$");
		return;
	}
	snprintf(digits, sizeof digits, "%.6g", x);
	e = strchr(digits, 'e');
	if (e)
		*e = 0;
	hu_str_addf(b, e ? "$%s \\times 10^{%d}$" : "$%s$", digits, e ? atoi(e + 1) : 0);
}

static void
latex_text(hu_str *b, const char *s)
{
	for (; *s; s++) {
		const char *as = *s == '\\'  ? "\\textbackslash{}"
				 : *s == '~' ? "\\textasciitilde{}"
				 : *s == '^' ? "\\textasciicircum{}"
					     : NULL;
		if (as)
			hu_str_add(b, as);
		else
			hu_str_addf(b, strchr("#$%&_{}", *s) ? "\\%c" : "%c", *s);
	}
}

static void
markdown_text(hu_str *b, const char *s)
{
	for (; *s; s++)
		hu_str_addf(b, strchr("\\`*[]<>|", *s) ? "\\%c" : "%c", *s);
}

static void
cell(hu_str *b, const hu_table_field *c, const void *row, int latex)
{
	double x = hu_field_value(c, row);
	hu_str text;

	if (latex && !hu_field_empty(c, row) && (c->kind == HU_FIELD_REAL || c->kind == HU_FIELD_MEASURED)) {
		latex_number(b, x);
		return;
	}
	if (latex && !hu_field_empty(c, row) && c->kind == HU_FIELD_POWER) {
		hu_str_addf(b, "$2^{%d}$", *(const int *)(const void *)((const char *)row + c->offset));
		return;
	}
	if (!isnan(x) && c->kind >= HU_FIELD_REAL) {
		hu_str_addf(b, "%.17g", x);
		return;
	}
	hu_str_init(&text);
	hu_field_text(&text, c, row);
	if (latex)
		latex_text(b, text.s);
	else
		markdown_text(b, text.s);
	hu_str_release(&text);
}

void
hu_fields_document(hu_str *to, const hu_fields *t, const void *rows, size_t n, hu_fields_markup markup)
{
	int latex = markup == HU_FIELDS_LATEX;
	const char *const before = latex ? "" : "| ", *const between = latex ? " & " : " | ",
			  *const after = latex ? " \\\\\n" : " |\n";
	size_t k = 0;

	hu_str_add(to, latex ? "\\begin{tabular}{" : "");
	for (size_t i = 0; latex && i < t->n; i++)
		if (hu_fields_written(t, i))
			hu_str_add(to, hu_field_is_text(&t->column[i]) ? "l" : "r");
	hu_str_add(to, latex ? "}\n\\hline\n" : "");
	for (size_t i = 0; i < t->n; i++) {
		const hu_table_field *c = &t->column[i];
		if (!hu_fields_written(t, i))
			continue;
		hu_str_add(to, k++ ? between : before);
		if (latex && c->tex)
			hu_str_add(to, c->tex);
		else if (latex)
			latex_text(to, c->heading ? c->heading : c->name);
		else
			hu_str_add(to, c->name);
	}
	hu_str_addf(to, "%s%s", after, latex ? "\\hline\n" : "|");
	k = 0;
	for (size_t i = 0; !latex && i < t->n; i++)
		if (hu_fields_written(t, i))
			hu_str_addf(to, "%s%s", k++ ? "|" : "", hu_field_is_text(&t->column[i]) ? "---" : "---:");
	hu_str_add(to, latex ? "" : "|\n");
	for (size_t r = 0; r < n; r++) {
		const char *row = (const char *)rows + r * t->stride;
		k = 0;
		for (size_t i = 0; i < t->n; i++)
			if (hu_fields_written(t, i)) {
				hu_str_add(to, k++ ? between : before);
				cell(to, &t->column[i], row, latex);
			}
		hu_str_add(to, after);
	}
	hu_str_add(to, latex ? "\\hline\n\\end{tabular}\n" : "");
}

void
hu_fields_help(const hu_fields *t)
{
	enum { INDENT = 29 };

	for (size_t i = 0; i < t->n; i++) {
		const hu_table_field *c = &t->column[i];
		hu_str b;
		if (c->place == HU_FIELD_SHOWN)
			continue;
		hu_str_init(&b);
		hu_str_addf(&b, "  %s%s%s%s", c->name, c->unit ? " [" : "", c->unit ? c->unit : "", c->unit ? "]" : "");
		hu_str_addf(&b, "%*s%s", b.len + 1 < INDENT ? INDENT - (int)b.len : 1, "", c->means);
		hu_fitted_prose(b.s, INDENT);
		hu_str_release(&b);
	}
}
