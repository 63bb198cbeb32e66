/* SPDX-License-Identifier: Apache-2.0
   Where the rows of a benchmark go: to standard output as a table or one JSON array, and to a file. */
#ifndef HU_TRAINER_BENCH_ROWS_H
#define HU_TRAINER_BENCH_ROWS_H

#include "lib/base/terminal/fitted.h"
#include "lib/base/tsv.h"
#include "trainer/bench/bench.h"

/* file: the table file, NULL for none, rewritten after each row so that it is whole at any time. many: the printed
   table has the column `machine`, since several may have measured. wrong: results that failed their check. bar: of
   which a printed line takes the place. */
typedef struct hu_bench_sink {
	const hu_bench *bench;
	const char *file;
	int many, headed;
	json_t *all;
	hu_tsv tsv;
	hu_fitted shown;
	hu_progress *bar;
	long wrong;
} hu_bench_sink;

void hu_bench_rows_begin(hu_bench_sink *s, int json);
/* Takes rows, whose keys `wrong` and `why` go no further. Without --json they are printed at once. */
hu_status hu_bench_rows_take(hu_bench_sink *s, json_t *rows);
/* Prints the array where all went well; releases. */
void hu_bench_rows_end(hu_bench_sink *s, hu_status st);
#endif
