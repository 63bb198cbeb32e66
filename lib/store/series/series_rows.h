/* SPDX-License-Identifier: Apache-2.0
   Rows of named cells, which the readers of tables and of JSON lines produce. */
#ifndef HU_STORE_SERIES_ROWS_H
#define HU_STORE_SERIES_ROWS_H

#include "lib/store/series/series.h"

typedef struct hu_row_cell {
	char *name, *text;
} hu_row_cell;

/* A row under construction, and where it is in its file. */
typedef struct hu_series_row {
	hu_series_file *file;
	const char *path, *step; /* step is the step's column; NULL: not known yet, or none */
	hu_row_cell *cell;
	size_t n, cap, number;  /* number: of the row, from 1 */
	size_t *index, indexed; /* finds the file's series by a hash of their names */
} hu_series_row;

/* Adds a cell; both texts are copied. */
void hu_series_cell(hu_series_row *r, const char *name, const char *text);
/* Appends the row's cells to the series of their names and empties the row. */
hu_status hu_series_row_end(hu_series_row *r);
void hu_series_row_release(hu_series_row *r);

/* Each reads a whole file. */
hu_status hu_series_table(hu_series_row *r, const char *data, size_t n);
hu_status hu_series_json(hu_series_row *r, const char *data, size_t n);
#endif
