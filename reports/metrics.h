/* SPDX-License-Identifier: Apache-2.0
   The numbers at the top of a report: about a dozen of summary.json as rows of a table, and a few of metrics.tsv. The
   page and the terminal share them. */
#ifndef HU_REPORTS_METRICS_H
#define HU_REPORTS_METRICS_H

#include "reports/human.h"
#include "reports/runs.h"

/* A number with a label. The note under it is the text before, another number, and the text after. */
typedef struct hu_number {
	const char *label, *key;
	hu_quantity unit;
	const char *suffix, *before, *note_key;
	hu_quantity note_unit;
	const char *after;
} hu_number;

extern const hu_number hu_numbers[];    /* a row with label NULL ends it */

/* The number and its note as texts, which the caller frees; a note may be "". A number that the run lacks is an en
   dash. */
char *hu_number_value(const hu_report_run *r, const hu_number *n);
char *hu_number_note(const hu_report_run *r, const hu_number *n);

/* The last, the median and the sum of the finite cells of a column of metrics.tsv; NaN where there is none. */
double hu_metrics_last(const hu_report_run *r, const char *column);
double hu_metrics_median(const hu_report_run *r, const char *column);
double hu_metrics_sum(const hu_report_run *r, const char *column);
/* Returns 1 where the last measured cell of the column is nan or infinite. */
int hu_metrics_diverged(const hu_report_run *r, const char *column);
/* Returns how many rows of metrics.tsv have nan or infinity in that column, and sets *step to the first such step. */
int hu_metrics_nonfinite(const hu_report_run *r, const char *column, const char **step);
#endif
