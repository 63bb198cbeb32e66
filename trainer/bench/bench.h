/* SPDX-License-Identifier: Apache-2.0
   A benchmark measures something, checks what it measured, and hands over rows, which cmd_bench.c prints. It has a file
   and a row of benches.def, which gives its name. */
#ifndef HU_TRAINER_BENCH_BENCH_H
#define HU_TRAINER_BENCH_BENCH_H

#include "lib/base/console/opt.h"

#include <jansson.h>

typedef struct hu_bench_column {
	const char *name;     /* the row's key, and the table's head */
	int width, decimals;  /* decimals < 0: text */
} hu_bench_column;

/* Receives a row: a JSON object with a value or null for each column. It is printed at once, unless all rows become one
   JSON array. A key that is not a column is printed in JSON alone. */
typedef void hu_bench_row(void *to, json_t *row);

/* An option that a benchmark takes, and the benchmark's own default; where def is NULL, the option table's default
   holds. */
typedef struct hu_bench_option { const char *name, *def; } hu_bench_option;

typedef struct hu_bench {
	const char *name, *summary;
	const hu_bench_column *columns; /* a NULL name ends them */
	/* Measures what the options ask for and calls `row` for each result. Adds to *wrong the number of results that
	   failed their check. */
	hu_status (*run)(const hu_args *a, hu_bench_row *row, void *to, long *wrong);
	const hu_bench_option *takes;   /* a NULL name ends them; any other option on the line is refused */
	const struct hu_opt_need
		*needs; /* conditions on a hu_args under which these options have an effect; NULL: none */
	int shared;                     /* 1: the processes that mpirun starts share what it measures */
} hu_bench;

/* Returns seconds: this thread's processor time, so that other work on the machine does not count, or, where `all` is
   1, a clock's, for work of several threads. */
double hu_bench_clock(int all);
#endif
