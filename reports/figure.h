/* SPDX-License-Identifier: Apache-2.0
   The figures of a report: the rows of figures.def with what they took from the
   runs, their files, and how they are drawn. A figure without data is never drawn;
   it keeps the reason, which the page tells. */
#ifndef HU_REPORTS_FIGURE_H
#define HU_REPORTS_FIGURE_H

#include "reports/runs.h"
#include "reports/select.h"

typedef enum hu_figure_scope { HU_FIGURE_EACH, HU_FIGURE_ALL, HU_FIGURE_COMPARED } hu_figure_scope;

enum { HU_FIGURE_PARTS = 4 };

typedef struct hu_figure {
	const char *name, *title, *caption;
	hu_figure_scope scope;
	int run;                 /* which run it shows; -1: all */
	char *stem;              /* files are STEM.svg, STEM.png, STEM.gp, STEM.tsv, STEM.PART.tsv */
	int parts;
	char *part_name[HU_FIGURE_PARTS];   /* NULL for the first, the main one */
	hu_selection part[HU_FIGURE_PARTS];
	char *why;               /* not drawn: the reason; NULL where it is drawn */
} hu_figure;

typedef struct hu_figures { hu_figure *at; int n; } hu_figures;

/* Every figure's data, read and checked; nothing is written. HU_EFILE: a table is bad. */
hu_status hu_figures_select(hu_figures *f, const hu_report_runs *runs);
void hu_figures_release(hu_figures *f);

/* STEM.tsv and STEM.gp of every figure that is drawn, and style.gp, into dir.
   formats: "svg png", for gnuplot. command: the line that made the report, for the provenance. */
hu_status hu_figures_write(
	const hu_figures *f, const hu_report_runs *runs, const char *dir, const char *formats, const char *command);

/* STEM.tex of every figure that is drawn: a figure environment around STEM.pdf, with caption and label. */
hu_status hu_figures_tex(const hu_figures *f, const char *dir);

/* Runs gnuplot on every STEM.gp in dir, several at a time. HU_EUNABLE: no gnuplot, or
   one that failed: its first line of complaint. */
hu_status hu_figures_draw(const hu_figures *f, const char *dir, const char *formats);

/* HU_EUNABLE, with what to install, where there is no gnuplot to run. */
hu_status hu_gnuplot_check(void);
/* A file of reports/ (figures/loss.gp, page.css): found beside the sources or where they were installed. */
hu_status hu_report_source(const char *name, char **text, size_t *n);
#endif
