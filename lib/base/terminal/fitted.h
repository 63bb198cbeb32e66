/* SPDX-License-Identifier: Apache-2.0
   A table of texts that fits a terminal: a table that is wider than it may be loses its least important columns. What
   is left out stands in the command's --json and --export, which know every column. */
#ifndef HU_BASE_FITTED_H
#define HU_BASE_FITTED_H

#include <stddef.h>

enum { HU_FITTED_MOST = 24 };

typedef struct hu_fitted {
	struct { const char *heading; int left, rank; } column[HU_FITTED_MOST];
	size_t n, ncell, capcell;
	char **cell; /* row by row */
} hu_fitted;

/* All fields of a table without columns are zero. */
void hu_fitted_release(hu_fitted *t);
/* Adds a column, before any cell. left: its texts stand at its left edge. rank: the columns of the largest rank are
   left out first; those of rank 0 never are. A column none of whose cells holds anything but "-" is left out as well,
   unless its rank is 0. The heading must outlive the table. */
void hu_fitted_add(hu_fitted *t, const char *heading, int left, int rank);
/* Adds a cell, row by row; the text is copied. */
void hu_fitted_cell(hu_fitted *t, const char *text);
/* A number, "-" where it is NaN. */
void hu_fitted_number(hu_fitted *t, const char *format, double x);
/* Prints the headings and all rows on standard output, in lines of at most WIDTH columns unless those of rank 0 are
   wider. */
void hu_fitted_print(const hu_fitted *t, size_t width);
/* The columns that a line of standard output may have: the environment's COLUMNS, else the terminal's width, at least
   80 either way; where there is neither, SIZE_MAX, since a file or a pipe has room for every column. */
size_t hu_fitted_width(void);
#endif
