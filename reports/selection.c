/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/select.h"

#include "lib/base/console/plot_text.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Keeps the top rows; ties at the limit go to the first. */
void
hu_selection_top(hu_selection *s, size_t top, const char *column)
{
	size_t n = s->rows, width = (size_t)s->columns, kept = 0;
	double sign = column && *column == '-' ? -1 : 1;

	if (!top || n <= top)
		return;
	column += sign < 0;
	double *x = hu_xmalloc(n * sizeof *x), *sorted = hu_xmalloc(n * sizeof *sorted);
	for (size_t r = 0; r < n; r++) {
		x[r] = sign * hu_selection_real(s, r, column);
		if (isnan(x[r]))
			x[r] = -INFINITY;
		sorted[r] = x[r];
	}
	qsort(sorted, n, sizeof *sorted, descending);
	double limit = sorted[top - 1];
	size_t above = 0;
	for (size_t r = 0; r < n; r++)
		above += x[r] > limit;
	size_t ties = top - above;
	for (size_t r = 0; r < n; r++) {
		int keep = x[r] > limit || (x[r] == limit && ties && ties--);
		for (size_t i = 0; i < width; i++)
			if (keep)
				s->cell[kept * width + i] = s->cell[r * width + i];
			else
				free(s->cell[r * width + i]);
		kept += (size_t)keep;
	}
	s->dropped = n - kept;
	s->rows = kept;
	free(x);
	free(sorted);
}

void
hu_selection_empty(hu_selection *s)
{
	for (size_t i = 0; i < s->rows * (size_t)s->columns; i++)
		free(s->cell[i]);
	s->rows = 0;
}

void
hu_selection_release(hu_selection *s)
{
	hu_selection_empty(s);
	for (int l = 0; l < s->levels; l++) {
		for (int i = 0; i < s->level[l].names; i++)
			free(s->level[l].name[i]);
		free(s->level[l].name);
	}
	for (int i = 0; i < s->columns; i++)
		free(s->column[i]);
	free(s->cell);
	free(s->query);
	free(s->empty);
	hu_str_release(&s->notes);
	memset(s, 0, sizeof *s);
}

void
hu_selection_text(const hu_selection *s, const char *head, hu_str *out)
{
	hu_str_init(out);
	hu_str_add(out, head);
	hu_str_add(out, s->notes.s);
	for (int i = 0; i < s->columns; i++)
		hu_str_addf(out, "%s%s", i ? "\t" : "", s->column[i]);
	hu_str_add(out, "\n");
	for (size_t r = 0; r < s->rows; r++)
		for (int i = 0; i < s->columns; i++) {
			hu_plot_cell(out, s->cell[r * (size_t)s->columns + (size_t)i]);
			hu_str_add(out, i + 1 == s->columns ? "\n" : "\t");
		}
}

const char *
hu_selection_cell(const hu_selection *s, size_t row, const char *column)
{
	for (int i = 0; i < s->columns; i++)
		if (!strcmp(s->column[i], column))
			return s->cell[row * (size_t)s->columns + (size_t)i];
	return "-";
}

double
hu_selection_real(const hu_selection *s, size_t row, const char *column)
{
	const char *text = hu_selection_cell(s, row, column);
	char *end;
	double x = strtod(text, &end);

	return end == text || *end ? NAN : x;
}
