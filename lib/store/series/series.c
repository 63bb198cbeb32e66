/* SPDX-License-Identifier: Apache-2.0
   Finds out which kind of file it is, and sorts the points. */
#include "lib/store/series/series.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/series/series_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
hu_point_order(const hu_point *a, const hu_point *b)
{
	if (isnan(a->at) != isnan(b->at))
		return isnan(a->at) ? 1 : -1;
	if (!isnan(a->at))
		return (a->at > b->at) - (a->at < b->at);
	return strcmp(a->step, b->step);
}

static int
by_step(const void *a, const void *b)
{
	const hu_point *x = a, *y = b;
	int order = hu_point_order(x, y);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static hu_status
order(hu_series_file *f, const char *path)
{
	for (size_t i = 0; i < f->n; i++) {
		hu_metric_series *s = &f->series[i];
		qsort(s->point, s->n, sizeof *s->point, by_step);
		for (size_t k = 1; k < s->n; k++)
			if (!hu_point_order(&s->point[k - 1], &s->point[k]))
				return hu_fail(HU_EFILE,
					"%s: rows %zu and %zu both have %s at step %s; --step COLUMN names the column "
					"that tells rows apart",
					path, s->point[k - 1].row, s->point[k].row, s->name, s->point[k].step);
	}
	return f->n ? HU_OK : hu_fail(HU_EFILE, "%s: there is no value in it, at any step", path);
}

hu_status
hu_series_parse(hu_series_file *f, const char *name, const char *data, size_t n, const char *step)
{
	hu_series_row r = { .file = f, .path = name, .step = step };
	hu_status st;

	memset(f, 0, sizeof *f);
	if (n >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) { /* a byte order mark, which Excel writes */
		data += 3;
		n -= 3;
	}
	size_t blank = strspn(data, " \t\r\n");
	if (strlen(data) != n)
		st = hu_fail(HU_EFILE, "%s: byte %zu is a zero; metrics are text (TSV, CSV or JSON lines)", name,
			strlen(data));
	else
		st = data[blank] == '{' ? hu_series_json(&r, data, n) : hu_series_table(&r, data, n);
	hu_series_row_release(&r);
	if (st == HU_OK)
		st = order(f, name);
	if (st != HU_OK)
		hu_series_release(f);
	return st;
}

hu_status
hu_series_read(hu_series_file *f, const char *path, const char *step)
{
	char *data;
	size_t n;

	memset(f, 0, sizeof *f);
	HU_TRY(hu_file_read(path, &data, &n));
	hu_status st = hu_series_parse(f, path, data, n, step);
	free(data);
	return st;
}

void
hu_series_release(hu_series_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->series[i].n; k++) {
			free(f->series[i].point[k].step);
			free(f->series[i].point[k].text);
		}
		free(f->series[i].point);
		free(f->series[i].name);
	}
	free(f->series);
	free(f->step);
	memset(f, 0, sizeof *f);
}
