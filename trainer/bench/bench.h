/* SPDX-License-Identifier: Apache-2.0
   What a benchmark is: it measures, checks what it measured, and hands over rows.
   cmd_bench.c prints them. A row of benches.def and a file bring it its name. */
#ifndef HU_TRAINER_BENCH_BENCH_H
#define HU_TRAINER_BENCH_BENCH_H

#include "lib/base/console/opt.h"

#include <jansson.h>

typedef struct hu_bench_column {
	const char *name;     /* the row's key, and the table's head */
	int width, decimals;  /* decimals < 0: text */
} hu_bench_column;

/* Takes a row, an object with a value or null for each column; prints it at once unless all are to be JSON. A key that
   is no column is JSON's alone. */
typedef void hu_bench_row(void *to, json_t *row);

/* An option that a benchmark takes, and its default there; NULL: the table's, if any. */
typedef struct hu_bench_option { const char *name, *def; } hu_bench_option;

typedef struct hu_bench {
	const char *name, *summary;
	const hu_bench_column *columns; /* a NULL name ends them */
	/* Measures what the options ask for and calls row for each. *wrong counts results that were not what they must
	   be. */
	hu_status (*run)(const hu_args *a, hu_bench_row *row, void *to, long *wrong);
	const hu_bench_option *takes;   /* a NULL name ends them; another option on the line is refused */
	const struct hu_opt_need
		*needs; /* of a hu_args: what those that it takes need to have an effect; NULL: nothing */
} hu_bench;

/* Seconds: this thread's processor time, so that other work on the machine does not count, or with `all` a clock's, for
   several threads. */
double hu_bench_clock(int all);
#endif
