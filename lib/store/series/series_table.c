/* SPDX-License-Identifier: Apache-2.0
   Metrics as a table: cells separated by tabs, or by commas as in RFC 4180, under a row of names. Lines that begin with
   # before the header are comments. */
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/store/series/series_rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
	const char *at, *end;
	char comma; /* or a tab, with which cells have no quotes */
	char **name;
	size_t names, cap;
	hu_str cell;
} reader;

/* Reads the next cell into r->cell; *last is set if the row ends after it. Returns 0 if an opening quote is never
   closed. */
static int
next_cell(reader *r, int *last)
{
	int quoted = r->comma == ',' && r->at < r->end && *r->at == '"', open = quoted;

	r->cell.len = 0;
	r->cell.s[0] = 0;
	r->at += quoted;
	for (; r->at < r->end; r->at++) {
		if (open && *r->at == '"') {
			if (r->at + 1 < r->end && r->at[1] == '"')
				r->at++;
			else {
				open = 0;
				continue;
			}
		} else if (!open && (*r->at == r->comma || *r->at == '\n'))
			break;
		hu_str_addn(&r->cell, r->at, 1);
	}
	*last = r->at >= r->end || *r->at == '\n';
	if (*last && r->cell.len && r->cell.s[r->cell.len - 1] == '\r')
		r->cell.s[--r->cell.len] = 0;
	r->at += r->at < r->end;
	return !open;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files may have any number of columns: names are sorted to find one that is there twice. */
static hu_status
check_names(const reader *r, const hu_series_row *row)
{
	char **sorted = hu_xmalloc((r->names + 1) * sizeof *sorted);
	size_t i = 1;

	for (size_t k = 0; k < r->names; k++)
		sorted[k] = r->name[k];
	qsort(sorted, r->names, sizeof *sorted, by_name);
	while (i < r->names && strcmp(sorted[i - 1], sorted[i]))
		i++;
	hu_status st =
		i < r->names ? hu_fail(HU_EFILE, "%s: the header has the name %s twice", row->path, sorted[i]) : HU_OK;
	free(sorted);
	return st;
}

static hu_status
read_header(reader *r, const hu_series_row *row)
{
	int last = 0;

	while (!last) {
		if (!next_cell(r, &last))
			return hu_fail(HU_EFILE, "%s: the header has a quote that is not closed", row->path);
		if (last && !r->cell.len && r->names)
			break; /* a comma at the end of the header */
		HU_GROW(r->name, r->names, r->cap);
		r->name[r->names++] = hu_xstrdup(r->cell.s);
	}
	if (r->names == 1 && !*r->name[0])
		return hu_fail(HU_EFILE, "%s: its first row is empty, and names of columns are needed", row->path);
	return check_names(r, row);
}

static hu_status
read_row(reader *r, hu_series_row *row)
{
	int last = 0;
	size_t k = 0;

	row->number++;
	for (; !last; k++) {
		if (!next_cell(r, &last))
			return hu_fail(HU_EFILE, "%s: row %zu has a quote that is not closed", row->path, row->number);
		if (k < r->names)
			hu_series_cell(row, *r->name[k] ? r->name[k] : "column without a name", r->cell.s);
		else if (r->cell.len)
			return hu_fail(HU_EFILE, "%s: row %zu has more cells than the header's %zu", row->path,
				row->number, r->names);
	}
	if (k < r->names)
		return hu_fail(HU_EFILE, "%s: row %zu has %zu cells and the header %zu: was the file cut short?",
			row->path, row->number, k, r->names);
	return hu_series_row_end(row);
}

hu_status
hu_series_table(hu_series_row *row, const char *data, size_t n)
{
	reader r = { .at = data, .end = data + n };
	hu_status st = HU_OK;

	while (r.at < r.end && (*r.at == '#' || *r.at == '\n' || *r.at == '\r')) {
		const char *nl = memchr(r.at, '\n', (size_t)(r.end - r.at));
		r.at = nl ? nl + 1 : r.end;
	}
	const char *nl = memchr(r.at, '\n', (size_t)(r.end - r.at));
	r.comma = memchr(r.at, '\t', (size_t)((nl ? nl : r.end) - r.at)) ? '\t' : ',';
	hu_str_init(&r.cell);
	st = r.at < r.end ? read_header(&r, row) : hu_fail(HU_EFILE, "%s: there is no row in it", row->path);
	while (st == HU_OK && r.at < r.end) {
		if (*r.at == '\n' || (*r.at == '\r' && r.at + 1 < r.end && r.at[1] == '\n'))
			r.at += 1 + (*r.at == '\r'); /* an empty line */
		else
			st = read_row(&r, row);
	}
	for (size_t i = 0; i < r.names; i++)
		free(r.name[i]);
	free(r.name);
	hu_str_release(&r.cell);
	return st;
}
