/* SPDX-License-Identifier: Apache-2.0
   The figures of a report: the rows of figures.def with the data they selected from the runs, their files, and how they
   are drawn. A figure without data is never drawn; it keeps the reason, which the page prints. */
#ifndef HU_REPORTS_FIGURE_H
#define HU_REPORTS_FIGURE_H

#include "reports/runs.h"
#include "reports/select.h"

/* A page of a paper (174 mm) and one of its two columns (84 mm); text has 8 pt in both. */
typedef enum hu_figure_width { HU_FIGURE_PAGE, HU_FIGURE_COLUMN } hu_figure_width;

typedef enum hu_figure_scope { HU_FIGURE_EACH, HU_FIGURE_ALL, HU_FIGURE_COMPARED } hu_figure_scope;

enum { HU_FIGURE_PARTS = 12 };

typedef struct hu_figure {
	const char *name, *title, *caption, *ranges;
	char *numbers, *subject; /* what the data say, and of what run, model and formats (caption.h) */
	hu_figure_scope scope;
	int run;                 /* index of the run that it shows; -1: all runs */
	char *stem;              /* files are STEM.svg, STEM.png, STEM.gp, STEM.tsv, STEM.PART.tsv */
	int parts;
	char *part_name[HU_FIGURE_PARTS];   /* NULL for the first, the main one */
	hu_selection part[HU_FIGURE_PARTS];
	char *why;               /* the reason why it is not drawn; NULL where it is drawn */
} hu_figure;

typedef struct hu_figures { hu_figure *at; int n; } hu_figures;

/* Reads and checks every figure's data; writes nothing. HU_EFILE: a table is bad. */
hu_status hu_figures_select(hu_figures *f, const hu_report_runs *runs);
void hu_figures_release(hu_figures *f);

/* Writes STEM.tsv and STEM.gp of every figure that is drawn, and style.gp, into dir. formats ("svg png") is for
   gnuplot; command is the line that made the report, for the provenance. */
hu_status hu_figures_write(
	const hu_figures *f, const hu_report_runs *runs, const char *dir, const char *formats, const char *command);

/* Writes STEM.tex of every figure that is drawn: a LaTeX figure environment around STEM.pdf, with caption and label, as
   wide as a column or as both columns of a page. */
hu_status hu_figures_tex(const hu_figures *f, const char *dir, hu_figure_width width);

/* Runs gnuplot on every STEM.gp in dir, several at a time: each makes STEM.FORMAT for every one of the formats ("svg
   png"), in the layout of that width. HU_EUNABLE where there is no gnuplot or it failed, with the first line of its
   complaint. */
hu_status hu_figures_draw(const hu_figures *f, const char *dir, const char *formats, hu_figure_width width);

/* HU_EUNABLE, with the package to install, where there is no gnuplot to run. */
hu_status hu_gnuplot_check(void);
/* Reads a file of reports/ (figures/loss.gp, page/page.css), beside the sources or where they were installed. The
   caller frees *text. */
hu_status hu_report_source(const char *name, char **text, size_t *n);
#endif
