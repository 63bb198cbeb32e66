/* SPDX-License-Identifier: Apache-2.0
   What a figure's data say, in words: a row of figures.def has a template, and its numbers come from the rows that the
   figure draws, so that a caption cannot disagree with its picture. An exponent after ^ is raised.

     clauses are separated by "; ", and a clause is left out where one of its numbers is missing
     {max C} {min C} {sum C}     over the rows; with " %" at the end as a percentage, with " ulps" as an error in ulps
     {share A B}                 the sum of A over the sum of B, as a percentage
     {at C D} {atmin C D}        the text of column D in the row where C is largest, or smallest
     {runs WHAT C}               "0.981 (float32), 0.973 (float16)": last, max or absmax (the largest |C|) of each run
   C@PART reads the table of that part of the figure. */
#ifndef HU_REPORTS_CAPTION_H
#define HU_REPORTS_CAPTION_H

#include "reports/figure.h"

/* Returns the template with its numbers, "" where every clause lacks one. The caller frees it. */
char *hu_figure_numbers(const hu_figure *f, const hu_report_runs *runs, const char *numbers);

/* Returns what the figure is of, in a line: run, model, data, policy and what it computes and keeps weights in. The
   caller frees it. */
char *hu_figure_subject(const hu_figure *f, const hu_report_runs *runs);
#endif
