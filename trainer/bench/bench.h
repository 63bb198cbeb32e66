/* SPDX-License-Identifier: Apache-2.0
   A benchmark cuts what the command line asks for into units, measures each of them alone, checks what it measured, and
   gives rows, which bench_rows.c prints. Where several machines share a benchmark (bench_units.c) each unit is measured
   on one of them. A benchmark has a file and a row of benches.def, which gives its name. */
#ifndef HU_TRAINER_BENCH_BENCH_H
#define HU_TRAINER_BENCH_BENCH_H

#include "lib/base/console/opt.h"
#include "lib/base/terminal/progress.h"

#include <jansson.h>

/* A column of a benchmark's table. Every table has one more, `machine`: the host name of the machine that measured the
   row, unless the row has that key already, as null where nothing was measured. */
typedef struct hu_bench_column {
	const char *name;    /* the row's key, and the table's head where `heading` is NULL */
	int width, decimals; /* decimals < 0: text; of width 1 it is a sentence, which a terminal wraps */
	int rank;            /* those of the largest rank are left out first of a narrow table; 0: never */
	const char *heading; /* what a person reads, with the unit, in place of the key */
} hu_bench_column;

/* An option that a benchmark takes, and the benchmark's own default; where def is NULL, the option table's default
   holds. */
typedef struct hu_bench_option {
	const char *name, *def;
} hu_bench_option;

/* What a line asks for: n units, merged in their order. of: the benchmark's own state.
   cost: NULL, or the seconds that each unit is expected to take, of which only ratios matter; group: NULL, or units of
   one group (a number) share what must be prepared; steps: NULL, or by how many steps the measurement of each unit
   moves the bar itself. These three are allocated, and freed by the caller.
   setting: NULL, or what decides which units there are beside the options, such as the instruction sets that this
   processor has: an allocated text. bar: is set by the caller before anything is measured. */
typedef struct hu_bench_work {
	void *of;
	int n, *group;
	double *cost;
	size_t *steps;
	char *setting;
	hu_progress *bar;
} hu_bench_work;

/* A row is a JSON object with a value or null for each column; a key that is not a column is printed in JSON alone. Two
   keys are for bench_rows.c, which takes them out: `wrong`, how many results failed their check, and `why`, a line for
   standard error. */
typedef struct hu_bench {
	const char *name, *summary;
	const hu_bench_column *columns; /* a NULL name ends them */
	const hu_bench_option *takes;   /* a NULL name ends them; any other option on the line is refused */
	const struct hu_opt_need
		*needs; /* conditions on a hu_args under which these options have an effect; NULL: none */
	int together;   /* 1: the processes that mpirun starts measure each unit together */
	/* Reads the options, fills in the work, and measures nothing. */
	hu_status (*begin)(hu_bench_work *w, const hu_args *a);
	/* The name of unit i, which is part of the work's text; the caller frees it. */
	char *(*unit)(const hu_bench_work *w, int i);
	/* Measures unit i and appends its rows. What is measured does not depend on other units of this process. */
	hu_status (*measure)(hu_bench_work *w, int i, json_t *rows);
	/* NULL, or adds to the rows of unit i, of whichever process, what follows from those of units before it. */
	void (*merge)(hu_bench_work *w, int i, json_t *rows);
	/* NULL, or appends the rows that come after all units. */
	hu_status (*after)(hu_bench_work *w, json_t *rows);
	/* Releases `of`; after a failure of begin too. */
	void (*end)(hu_bench_work *w);
} hu_bench;

/* Prints the help of the one benchmark that the line names and returns 1; 0 where it names none. */
int hu_bench_help(const hu_args *a);

/* Returns seconds: this thread's processor time, so that other work on the machine does not count, or, where `all` is
   1, a clock's, for work of several threads. */
double hu_bench_clock(int all);

/* Instruction sets that rows of the CPU are measured under: levels[l] becomes 1 for those of a list, for "all" that
   this processor has, and for NULL the one in use. HU_EUNABLE where this processor lacks one and measures itself, which
   who merges parts does not. A list of their names, separated by commas, which the caller frees. */
hu_status hu_bench_levels(char *levels, const char *text);
char *hu_bench_levels_text(const char *levels);
#endif
