/* SPDX-License-Identifier: Apache-2.0
   A baseline: the quantities of a run that later runs are held to, with how far each
   may move and how that was measured. A file a reviewer can read in a diff. */
#ifndef HU_ANALYZERS_BASELINE_H
#define HU_ANALYZERS_BASELINE_H

#include "lib/store/run.h"

/* Version 2 added the number of rows and the checksum in the head; 3 added programs and summaries, and put the rows to
   review first; 4 added digests of the data and of steps along the way; 5 added what step 0 began with, all scores of
   an evaluation and overflows of the exercise; 6 has tolerances that --ulps set, and none that runs measured. */
enum { HU_BASELINE_VERSION = 6 };

/* Which way a quantity must not move: errors may shrink freely. ANY: the runs of the baseline do not agree on it or on
   its being there, or no tolerance in ulps says how far it may move; it is listed and not compared. */
typedef enum hu_baseline_side { HU_SIDE_BOTH, HU_SIDE_UP, HU_SIDE_DOWN, HU_SIDE_ANY, HU_SIDES } hu_baseline_side;

typedef struct hu_baseline_quantity {
	char *key;                 /* table/step/layer/call/tensor/column */
	char *text;                /* its value as the table has it; "-" where not measured */
	double value;              /* NaN where the text is no number */
	int number;                /* the text is a number, NaN included */
	hu_baseline_side side;
	hu_format_id format;       /* whose ulps differences are told in */
	double ulps, tolerance;        /* how many such ulps, and which absolute difference, are allowed */
	int line;                  /* of the baseline's file, from 1; 0 where it was read from none */
	int call;                  /* the call's number where this is a row of the collected run's program; else -1 */
} hu_baseline_quantity;

typedef struct hu_setting { char *key, *value; } hu_setting;

typedef struct hu_baseline {
	hu_baseline_quantity *q;            /* by ascending key */
	size_t n, cap;
	hu_setting *env;           /* environment block: version, compiler, device, seed, hashes of sums and casts, … */
	size_t nenv, envcap;
} hu_baseline;

/* Fills b with the run's quantities: the rows of metrics.tsv at each epoch's end, digests of the state along the way
   and at the end, what step 0 began with, the calls of its programs, every step of its exercise where it has one, and
   the error, swamping and underflow tables. The caller releases b. Fails with HU_EFILE where the run was not
   analyzed. */
hu_status hu_baseline_collect(hu_baseline *b, const hu_run *r);

/* Makes B a baseline of N more runs as well, as far as no number can say: quantities that one of the runs lacks, or
   that differ without being finite numbers, become HU_SIDE_ANY. */
void hu_baseline_span(hu_baseline *b, const hu_baseline *more, size_t n);

/* Reads the baseline PATH into b, which the caller releases. Fails with HU_EFILE, in one line that names the row at
   fault, where the file has another version, a value and a hex column that are not the same number, tolerances that
   bound nothing, rows that are missing or stand twice, no environment, or a byte that changed after it was recorded. */
hu_status hu_baseline_read(hu_baseline *b, const char *path);
/* Reads a baseline as hu_baseline_read does, from n bytes of malloc's that a zero follows, and frees them. NAME stands
   for the file in messages. */
hu_status hu_baseline_parse(hu_baseline *b, const char *name, char *data, size_t n);
/* Writes b to PATH. `reason` says why these numbers are right (who recorded them at which commit is added), `measured`
   where the tolerances are from, and `unseen`, which may be "", has lines on what the runs could not show. The rows
   that a person reviews stand first; a line that says so separates them from the rest. */
hu_status hu_baseline_write(
	const hu_baseline *b, const char *path, const char *reason, const char *measured, const char *unseen);
void hu_baseline_release(hu_baseline *b);
const hu_baseline_quantity *hu_baseline_find(const hu_baseline *b, const char *key);
const char *hu_baseline_env(const hu_baseline *b, const char *key);    /* NULL where absent */

/* For the files that collect quantities. hu_baseline_add takes a value's text, hu_baseline_set an entry of the
   environment. */
void hu_baseline_add(hu_baseline *b, const char *key, const char *text, hu_baseline_side side, hu_format_id format);
void hu_baseline_set(hu_baseline *b, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void hu_baseline_sort(hu_baseline *b);
/* Returns 1 and sets *x where the whole text is a decimal number, inf, -inf or nan; returns 0 otherwise. */
int hu_baseline_number(const char *text, double *x);
#endif
