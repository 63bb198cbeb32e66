/* SPDX-License-Identifier: Apache-2.0
   The numbers that stand at the top of a report: the dozen of summary.json as
   rows of a table, and a few of metrics.tsv. The page and the terminal share them. */
#ifndef HU_REPORTS_NUMBERS_H
#define HU_REPORTS_NUMBERS_H

#include "reports/human.h"
#include "reports/runs.h"

/* A number with a name; the note under it is before, another number, after. */
typedef struct hu_number {
	const char *label, *key;
	hu_quantity unit;
	const char *suffix, *before, *note_key;
	hu_quantity note_unit;
	const char *after;
} hu_number;

extern const hu_number hu_numbers[];    /* a row with label NULL ends it */

/* The caller frees both; a note may be "". Numbers that a run lacks are an en dash. */
char *hu_number_value(const hu_report_run *r, const hu_number *n);
char *hu_number_note(const hu_report_run *r, const hu_number *n);

/* Of the finite cells of a column of metrics.tsv; NaN where there is none. */
double hu_metrics_last(const hu_report_run *r, const char *column);
double hu_metrics_median(const hu_report_run *r, const char *column);
double hu_metrics_sum(const hu_report_run *r, const char *column);
/* The last measured cell of a column is nan or infinite. */
int hu_metrics_diverged(const hu_report_run *r, const char *column);
/* Rows of metrics.tsv whose cell is nan or infinite; the first such step in *step. */
int hu_metrics_nonfinite(const hu_report_run *r, const char *column, const char **step);
#endif
