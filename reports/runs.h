/* SPDX-License-Identifier: Apache-2.0
   The runs of one report: manifest, summary and a short label for each. Figures read the tables themselves (select.h);
   no tensor is read here. */
#ifndef HU_REPORTS_RUNS_H
#define HU_REPORTS_RUNS_H

#include "lib/base/tsv.h"

#include <jansson.h>

typedef struct hu_report_run {
	char *dir, *label;        /* label: the policy's name where that distinguishes the runs, otherwise the
				     folder's */
	json_t *manifest;
	json_t *summary;          /* NULL before halfulp analyze */
	hu_table metrics;
} hu_report_run;

typedef struct hu_report_runs {
	hu_report_run *at;
	int n;
	char **dir;               /* dir[i] is at[i].dir */
	int focus;                /* index of the run with the worst verdict, which is shown first */
} hu_report_runs;

/* Opens n runs. HU_EFILE where there is no manifest or metrics.tsv, where JSON does not parse, or where a manifest is
   of a newer version. */
hu_status hu_report_runs_open(hu_report_runs *r, char *const *dir, int n);
void hu_report_runs_release(hu_report_runs *r);

/* Returns the text at a path such as "policy.compute" in j, hu_json_at the value there; NULL where there is none. */
const char *hu_json_text(const json_t *j, const char *path);
const json_t *hu_json_at(const json_t *j, const char *path);
/* Returns the number at a path; NaN where there is none. */
double hu_json_number(const json_t *j, const char *path);
#endif
