/* SPDX-License-Identifier: Apache-2.0
   Other files of the same network beside it: of each the values that its nodes change most, in a table. */
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORST = 12 }; /* rows of the table */

static int
is_pair(const json_t *value)
{
	return !strcmp(hu_model_text(value, "pair"), "same");
}

/* How far the value is off by its own node; what is not finite is a text, and the worst of all. */
static double
own(const json_t *value)
{
	double x = hu_model_number(value, "own");

	return isnan(x) ? INFINITY : x;
}

/* A value and its place among all. */
typedef struct ranked {
	const json_t *value;
	size_t at;
} ranked;

static int
by_own(const void *x, const void *y)
{
	const ranked *p = x, *q = y;
	double a = own(p->value), b = own(q->value);

	return a > b ? -1 : a < b ? 1 : p->at < q->at ? -1 : p->at > q->at;
}

static void
cell(hu_str *b, const char *format, double x)
{
	hu_str_add(b, "<td>");
	hu_model_figure(b, format, x);
	hu_str_add(b, "</td>");
}

static void
row(hu_str *b, const json_t *value)
{
	double all = hu_model_number(value, "elements");
	const char *op = hu_model_text(value, "op");

	hu_str_add(b, "<tr><th scope=\"row\">");
	hu_html_text(b, hu_model_text(value, "value"));
	hu_str_add(b, "</th><td class=\"left\">");
	hu_html_text(b, *op ? op : "input");
	hu_str_add(b, "</td>");
	cell(b, "%.3g", own(value));
	cell(b, "%.3g", hu_model_number(value, "arrived"));
	cell(b, "%.0f", hu_model_number(value, "nonfinite"));
	cell(b, "%.3g", 100 * hu_model_number(value, "zeroed") / all);
	cell(b, "%.3g", 100 * hu_model_number(value, "saturated") / all);
	hu_str_add(b, "</tr>\n");
}

static void
file(hu_str *b, const json_t *f)
{
	const json_t *values = json_object_get(f, "values"), *value;
	ranked *pair = hu_xcalloc(json_array_size(values) + 1, sizeof *pair);
	size_t n = 0, renamed = 0, i;

	json_array_foreach((json_t *)(size_t)values, i, value)
	{
		if (is_pair(value))
			pair[n++] = (ranked){ value, i };
		renamed += !strcmp(hu_model_text(value, "pair"), "renamed");
	}
	qsort(pair, n, sizeof *pair, by_own);
	hu_str_add(b, "<section>\n<h2>What ");
	hu_html_text(b, hu_model_text(f, "file"));
	hu_str_add(b, " does, value by value</h2>\n<p>");
	hu_model_figure(b, "Of the model’s %.0f values ", (double)json_array_size(values));
	hu_model_figure(b, "the file has %.0f under the same name; ", (double)n);
	hu_model_figure(b, "%.0f names have another value there. ", (double)renamed);
	hu_model_figure(b, "Measured on %.0f inputs.", hu_model_number(f, "inputs"));
	hu_str_add(b, "</p>\n<div class=\"scroll\"><table class=\"worst\">\n<thead><tr><th>value</th><th "
		      "class=\"left\">operator</th><th>its node’s own error</th><th>error that arrived</th>"
		      "<th>not finite</th><th>zeroed, %</th><th>saturated, %</th></tr></thead>\n<tbody>\n");
	for (i = 0; i < n && i < WORST; i++)
		row(b, pair[i].value);
	hu_str_add(b,
		"</tbody>\n</table></div>\n<p class=\"note\">A value’s own error is its relative L2 error where all "
		"values before it are the model’s.</p>\n</section>\n");
	free(pair);
}

void
hu_model_against(hu_str *b, const json_t *v)
{
	const json_t *files = json_object_get(v, "against"), *f;
	size_t i;

	json_array_foreach((json_t *)(size_t)files, i, f) file(b, f);
}
