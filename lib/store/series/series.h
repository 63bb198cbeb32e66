/* SPDX-License-Identifier: Apache-2.0
   Metrics that a training wrote as TSV, CSV or JSON lines, by this program or any other. A series holds the values of
   one name at each step. Files come from outside, so nothing in them is trusted. */
#ifndef HU_STORE_SERIES_H
#define HU_STORE_SERIES_H

#include "lib/base/status.h"

#include <stddef.h>

/* The value of a name at one step. */
typedef struct hu_point {
	char *step, *text; /* the cells as the file has them */
	double at, value;  /* as numbers; NaN if a cell is no number */
	size_t row;        /* of the file, from 1 */
} hu_point;

typedef struct hu_metric_series {
	char *name;
	int numbers;     /* every cell is a number: decimal, inf or nan */
	hu_point *point; /* by ascending step; numbers come before texts */
	size_t n, cap;
} hu_metric_series;

typedef struct hu_series_file {
	hu_metric_series *series; /* in the order of their first row */
	size_t n, cap;
	char *step; /* the column used as the step; NULL: rows are numbered */
} hu_series_file;

/* Reads path. A wide table has one column per name, a long one has the columns value and name (or metric, tag, key).
   Nested objects give names with a slash. Empty cells, "-" and null are skipped. step names the column that identifies
   a row; NULL uses the first of step, global_step, _step, iteration, iter, epoch, in any case, and numbers the rows if
   there is none. HU_EFILE says which row is wrong and how: a cell too many or too few, a name twice in the header,
   invalid JSON, one name twice at one step. On failure *f is empty. */
hu_status hu_series_read(hu_series_file *f, const char *path, const char *step);
/* The same for n bytes in memory, followed by a zero. name appears in messages. */
hu_status hu_series_parse(hu_series_file *f, const char *name, const char *data, size_t n, const char *step);
void hu_series_release(hu_series_file *f);

/* Compares two points by step: the result is below, equal to or above zero. */
int hu_point_order(const hu_point *a, const hu_point *b);
#endif
