/* SPDX-License-Identifier: Apache-2.0
   What a figure takes from a run's tables, as a line of text: which table, which
   columns, how rows are joined into one. Plain columns are the keys that rows are
   grouped by; it sorts nothing and computes nothing that an analyzer should.

     TABLE COLUMN... [where C=V | where C!=V]... [need C]... [some C] [moves C K] [top N C]

   A COLUMN is  NAME            the cell as it stands; "-" where it is not finite
                run             number of the run, from 1
                id:C  id:C:D    number of C's value (of the pair C D) in order of appearance (its names: level)
                label:C  label:C:D   C, and D after it, short enough for an axis, C_label
                max:C min:C sum:C    over the rows of a group
                mean:C:W        mean of C weighted by W over the rows of a group
                smooth:C        exponentially weighted mean along the table, C_smooth
                diff:C          C minus the first run's C at the same step, C_difference;
                                drops the first run's rows
                emin:C emax:C precision:C    of the number format that C names
   where keeps rows by text, need drops rows whose C is not a finite number, some
   gives no rows at all unless a cell of the result's C is neither 0 nor missing,
   moves gives none unless C takes two values in rows of one K,
   top keeps the N rows with the largest C of the result, or with the smallest for -C. */
#ifndef HU_REPORTS_SELECT_H
#define HU_REPORTS_SELECT_H

#include "lib/base/tsv.h"

#include <stddef.h>

/* HU_LABEL: characters of a name on an axis or in a legend */
enum { HU_SELECT_COLUMNS = 24, HU_LABEL = 26 };

typedef struct hu_level { const char *column; char **name; int names, cap; } hu_level;

typedef struct hu_selection {
	char *query;                        /* words of the query, cut in place: names below point here */
	char *table;
	char *column[HU_SELECT_COLUMNS];
	int columns;
	char **cell;                        /* rows x columns, each owned */
	size_t rows;
	hu_level level[HU_SELECT_COLUMNS];  /* one for each column of kind id: */
	int levels;
	size_t dropped;                     /* rows that `top` left out */
	size_t nonfinite;                   /* cells that were nan or infinite */
	hu_str notes;                       /* provenance of the first run's table: lines "# key: value" */
	char *empty;                        /* where rows is 0, the reason, as part of a sentence */
} hu_selection;

/* Runs query on the n runs in dir. A run without the table adds no rows. HU_EFILE where a table exists and cannot be
   read, lacks a column, or holds a word where a number belongs. */
hu_status hu_select(hu_selection *s, const char *query, char *const *dir, int n);
void hu_selection_release(hu_selection *s);

/* Drops every row. */
void hu_selection_empty(hu_selection *s);
/* Keeps the `top` rows (0: all) with the largest values in column, or with the smallest ones behind a minus sign, in
   their order; of equal values at the limit the first ones. */
void hu_selection_top(hu_selection *s, size_t top, const char *column);

/* Writes the table as TSV into *out, after the lines of provenance in head; the caller releases it. */
void hu_selection_text(const hu_selection *s, const char *head, hu_str *out);
/* Returns the cell of a column by name; "-" (hu_selection_real: NaN) where there is no such column. */
const char *hu_selection_cell(const hu_selection *s, size_t row, const char *column);
double hu_selection_real(const hu_selection *s, size_t row, const char *column);
#endif
