/* SPDX-License-Identifier: Apache-2.0
   Sections of the page, each appended to a string as whole elements. */
#ifndef HU_REPORTS_PAGE_PARTS_H
#define HU_REPORTS_PAGE_PARTS_H

#include "reports/figure.h"
#include "reports/human.h"

/* Begins a page: all up to <main>, with this title, the style sheet page.css and, where it is not NULL, another one,
   of reports/. hu_page_close ends it, with the script that sorts and filters its tables. HU_EUNABLE where the
   installation lacks one of these files. */
hu_status hu_page_open(hu_str *b, const char *title, const char *style);
hu_status hu_page_close(hu_str *b);

/* Appends a cell of a table; element is such as "td class=\"left\"". */
void hu_page_cell(hu_str *b, const char *element, const char *text);
/* Appends a <td> of a number in few digits, which has all of them as its attribute data-v; NaN is an en dash. */
void hu_page_number(hu_str *b, double x, hu_quantity unit);

/* Appends a section for each figure, in the order of figures.def; then the figures without data, with the reason.
   Pictures are in the page itself, read from the SVG files in dir, which have to be there. */
hu_status hu_page_figures(
	hu_str *b, const hu_report_runs *runs, const hu_figures *figures, const char *formats, const char *dir);
/* Appends, for a run that was analyzed, the table that says of each number at the top which rows it is made of, and by
   which command (sources.def); several: the title names the run. hu_page_has_source tells whether the number of that
   key has a row, whose id is from-KEY. HU_EFILE where a table is bad. */
hu_status hu_page_sources(hu_str *b, const hu_report_run *r, int several);
int hu_page_has_source(const char *key);
/* Appends, for a run that was analyzed, the table of its layers and that of its calls (measures.def); several: the
   title names the run. HU_EFILE where a table is bad. */
hu_status hu_page_layers(hu_str *b, const hu_report_run *r, int several);
/* Appends the tables of the run that have rows (tables.def); several: the titles name the run. HU_EFILE where a table
   is bad. */
hu_status hu_page_tables(hu_str *b, const hu_report_run *r, int several);
/* Appends the table of runs. */
void hu_page_runs(hu_str *b, const hu_report_runs *runs);
/* Appends the commands that make the report again, and what made the runs. */
void hu_page_provenance(hu_str *b, const hu_report_runs *runs, const char *command);

/* Appends, under a verdict that names a cause, the command whose run tells whether it is the cause: the run's own with
   one option changed (remedies.def). Where the report holds such a run, it says how both ended. */
void hu_page_counterexperiment(hu_str *b, const hu_report_runs *runs, const hu_report_run *r);

/* Returns 3 for fatal, 2 for costs, 1 for no verdict, 0 for harmless: the order in which a page tells of runs. */
int hu_verdict_order(const hu_report_run *r);
/* Returns the verdict harmless, costs or fatal, as a class of the style sheet; "" where there is none. */
const char *hu_verdict_class(const hu_report_run *r);
#endif
