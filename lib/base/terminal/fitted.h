/* SPDX-License-Identifier: Apache-2.0
   A table of texts that fits a terminal: a table that is wider than it may be loses its least important columns, then
   the middles of its longest names, and columns of prose go on below themselves. What is left out stands in the
   command's --json and -o, which know every column. */
#ifndef HU_BASE_FITTED_H
#define HU_BASE_FITTED_H

#include <stddef.h>
#include <stdio.h>

enum { HU_FITTED_MOST = 48 };

/* left: its texts stand at its left edge. rank: the columns of the largest rank are left out first; those of rank 0
   never are. least: it is at least so wide. prose: 1 for texts that are wrapped between words; most: the width at which
   they are, whatever a line may have; 0: only where they must. keep: an empty column stays where lines may have any
   width, so that whoever reads a pipe by position finds it. */
typedef struct hu_fitted_column {
	const char *heading;
	int left, rank, least, most, prose, keep;
} hu_fitted_column;

/* width: what columns were given by hu_fitted_begin, 0 for one that is left out; hidden: how many columns with
   something in them are left out; limit: the width that lines were to fit. */
typedef struct hu_fitted {
	hu_fitted_column column[HU_FITTED_MOST];
	char *heading[HU_FITTED_MOST];
	size_t width[HU_FITTED_MOST];
	size_t n, ncell, capcell, hidden, limit;
	char **cell; /* row by row */
	FILE *to;    /* NULL: standard output */
} hu_fitted;

/* All fields of a table without columns are zero. */
void hu_fitted_release(hu_fitted *t);
/* Adds a column, before any cell. A column none of whose cells holds anything but "-" is left out as well, unless its
   rank is 0. */
void hu_fitted_add(hu_fitted *t, const char *heading, int left, int rank);
/* The same with all that a column has. */
void hu_fitted_column_add(hu_fitted *t, hu_fitted_column c);
/* Adds a cell, row by row; the text is copied. */
void hu_fitted_cell(hu_fitted *t, const char *text);
/* A number, "-" where it is NaN. */
void hu_fitted_number(hu_fitted *t, const char *format, double x);
/* Prints the headings and all rows on standard output, in lines of at most WIDTH columns. */
void hu_fitted_print(hu_fitted *t, size_t width);
/* Prints the headings of a table whose rows are yet to come: what is known of columns is their least width, and none
   is left out for being empty. hu_fitted_flush prints the rows since then, and forgets their cells. */
void hu_fitted_begin(hu_fitted *t, size_t width);
void hu_fitted_flush(hu_fitted *t);
/* Prints how many columns were left out, and where they are ("--json and -o FILE.tsv have"); nothing where none
   were. */
void hu_fitted_left_out(const hu_fitted *t, const char *where);
/* Prints a paragraph in lines that fit the terminal, all but the first behind `indent` blanks, and in one line where
   there is no terminal. */
void hu_fitted_prose(const char *text, size_t indent);
/* The columns that a line of standard output may have: the environment's COLUMNS, else the terminal's width, at least
   80 either way; where there is neither, SIZE_MAX, since a file or a pipe has room for every column. */
size_t hu_fitted_width(void);
/* The columns that a text takes: the characters of UTF-8 count, not its bytes. */
size_t hu_fitted_wide(const char *text);
#endif
