/* SPDX-License-Identifier: Apache-2.0
   How accumulate says its sums: one list of columns, printed as a table for people, as tab-separated rows and as
   JSON. */
#ifndef HU_ACCUMULATE_SAY_H
#define HU_ACCUMULATE_SAY_H

#include "analyzers/accumulate/accumulate_options.h"
#include "analyzers/accumulate/accumulate_run.h"

/* A row: what was computed, and texts of it. The texts of the terms belong to the options. */
typedef struct hu_accumulate_row {
	hu_accumulated got;
	const char *terms, *times, *format;
	char *sum, *result, *hex, *bits, *exact; /* the row's own */
	long long n, length, seed;               /* length: the :N of the model, below 0 where it has none */
	double start, stagnation;                /* NaN where there is none */
} hu_accumulate_row;

typedef struct hu_accumulate_rows { hu_accumulate_row *v; size_t n, cap; } hu_accumulate_rows;

/* Adds the row of the sum *r by the model s of the first n terms, whose format is `terms` and whose exact sum is *x. */
void hu_accumulate_add(hu_accumulate_rows *to, const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s,
	hu_format_id terms, const hu_accumulate_options *o);

/* Prints all rows as o says. */
void hu_accumulate_print(const hu_accumulate_rows *w, const hu_args *args, const hu_accumulate_options *o, size_t n);
void hu_accumulate_release(hu_accumulate_rows *w);
/* Prints what each column means, as help has it. */
void hu_accumulate_help(void);
#endif
