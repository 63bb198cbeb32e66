/* SPDX-License-Identifier: Apache-2.0
   Metrics that a training wrote: TSV, CSV or JSON lines, whoever wrote them. A series is what one name had
   at each step. Every file is text from outside: nothing in it is trusted. */
#ifndef HU_STORE_SERIES_H
#define HU_STORE_SERIES_H

#include "lib/base/status.h"

#include <stddef.h>

/* What a name had at one step. */
typedef struct hu_point {
	char *step, *text; /* the cells as the file has them */
	double at, value;  /* as numbers; NaN where a cell is none */
	size_t row;        /* of the file, from 1 */
} hu_point;

typedef struct hu_metric_series {
	char *name;
	int numbers;     /* every cell is a number: decimal, inf or nan */
	hu_point *point; /* by ascending step: numbers before texts */
	size_t n, cap;
} hu_metric_series;

typedef struct hu_series_file {
	hu_metric_series *series; /* in the order of their first row */
	size_t n, cap;
	char *step; /* the column that was taken for the step; NULL: rows are counted */
} hu_series_file;

/* Reads PATH. Wide tables have a column a name, long ones the columns value and name (or metric, tag, key). Nested
   objects give names with a slash. Empty cells, "-" and null are no points. STEP names the column that tells the rows
   apart; NULL takes the first of step, global_step, _step, iteration, iter, epoch, in any case, and numbers the rows
   where there is none. HU_EFILE says which row is wrong and how: a cell too many or too few, a name twice in the
   header, JSON that is none, one name twice at one step. Where it fails *F is empty. */
hu_status hu_series_read(hu_series_file *f, const char *path, const char *step);
/* The same of N bytes in memory, with a zero behind them; NAME stands in the reasons. */
hu_status hu_series_parse(hu_series_file *f, const char *name, const char *data, size_t n, const char *step);
void hu_series_release(hu_series_file *f);

/* Order of two points by step: below, at or above zero. */
int hu_point_order(const hu_point *a, const hu_point *b);
#endif
