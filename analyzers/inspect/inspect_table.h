/* SPDX-License-Identifier: Apache-2.0
   The rows of halfulp inspect: their columns, their order, and as a table, as JSON and in a file. */
#ifndef HU_ANALYZERS_INSPECT_TABLE_H
#define HU_ANALYZERS_INSPECT_TABLE_H

#include "analyzers/inspect/inspect_cast.h"
#include "analyzers/op/foreign.h"
#include "lib/base/table/fields.h"

#include <jansson.h>

/* The row of an array and a format; total: of all arrays together, whose name is all. */
typedef struct hu_inspect_row {
	const hu_array *a;
	const hu_target *to;
	const char *file;
	int total;
	hu_cast_effect e;
} hu_inspect_row;

extern const hu_fields hu_inspect_columns;

/* Returns the column of this name, or of this heading, or -1. */
int hu_inspect_column(const char *name);
const char *hu_inspect_column_name(int column);
int hu_inspect_column_is_number(int column);
int hu_inspect_column_counts(int column);   /* 1 for counts of elements */
int hu_inspect_column_is_best(int column);  /* 1 for those of which only --best-scale knows something */
int hu_inspect_column_is_error(int column); /* 1 for errors over the elements that are finite before and after */
/* Returns a number's column of the row; NaN where it does not apply or is undefined. */
double hu_inspect_value(const hu_inspect_row *r, int column);
/* Sorts rows by a column, from the smallest to the largest or, where `reverse` is not 0, the other way round; rows for
   which it does not apply come last, and equal ones keep their order. */
void hu_inspect_sort(hu_inspect_row *row, size_t n, int column, int reverse);

/* Prints the rows. The file is printed where `files` is not 0; here and below those of the best scales where `best` is
   not 0. */
void hu_inspect_print(const hu_inspect_row *row, size_t n, int files, int best);
/* Returns an object for a row, which the caller releases. A value that does not apply or is undefined is null, an
   infinite one a string. */
json_t *hu_inspect_json(const hu_inspect_row *r, int best);
/* Appends header and rows to t. */
void hu_inspect_tsv(hu_tsv *t, const hu_inspect_row *row, size_t n, int best);
#endif
