/* SPDX-License-Identifier: Apache-2.0
   Sections of the page, each appended to a string as whole elements. */
#ifndef HU_REPORTS_PAGE_PARTS_H
#define HU_REPORTS_PAGE_PARTS_H

#include "reports/figure.h"

/* Appends a section for each figure, in the order of figures.def; then the figures without data, with the reason. */
void hu_page_figures(hu_str *b, const hu_report_runs *runs, const hu_figures *figures, const char *formats);
/* Appends the table of runs. */
void hu_page_runs(hu_str *b, const hu_report_runs *runs);
/* Appends the commands that make the report again, and what made the runs. */
void hu_page_provenance(hu_str *b, const hu_report_runs *runs, const char *command);

/* Returns the verdict harmless, costs or fatal, as a class of the style sheet; "" where there is none. */
const char *hu_verdict_class(const hu_report_run *r);
#endif
