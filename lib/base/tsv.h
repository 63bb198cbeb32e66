/* SPDX-License-Identifier: Apache-2.0
   Tables in files: leading `# key: value` lines (notes, which say where the numbers come from), one header row, and
   tab-separated rows. "-" stands for "not measured". A number is written with as few digits as read back to the same
   double. */
#ifndef HU_BASE_TSV_H
#define HU_BASE_TSV_H

#include "lib/base/file.h"
#include "lib/base/str.h"

typedef struct hu_tsv {
	hu_str text;
	size_t head;
	int columns, at;
} hu_tsv; /* head: where the notes end; at:
	     cells of the current row so far */

/* Notes may be added at any time; they stand above the header. columns holds the names, separated by blanks. */
void hu_tsv_init(hu_tsv *t);
void hu_tsv_note(hu_tsv *t, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void hu_tsv_header(hu_tsv *t, const char *columns);
/* These append cells to the current row, left to right. A full row ends by itself. */
void hu_tsv_text(hu_tsv *t, const char *s); /* escaped as by hu_shown; "-" where s is empty */
void hu_tsv_real(hu_tsv *t, double x);      /* NaN is written nan, infinities inf and -inf */
void hu_tsv_int(hu_tsv *t, long long x);
void hu_tsv_none(hu_tsv *t); /* "-" */
void hu_tsv_measured(hu_tsv *t, double x);  /* "-" where x is NaN, for values that are NaN where nothing was measured */
/* Writes the number as hu_tsv_real does, and a zero byte. */
enum { HU_TSV_REAL = 40 };
void hu_tsv_real_text(char to[HU_TSV_REAL], double x);
/* Writes the table to a file atomically. Only whole rows may have been added. The table can grow on, so that a long
   measurement that is cut short has saved its rows. */
hu_status hu_tsv_save(const hu_tsv *t, const char *path);
/* The same, and releases the table, also where writing failed. */
hu_status hu_tsv_write(hu_tsv *t, const char *path);
void hu_tsv_release(hu_tsv *t);

/* The note "whole: N rows, checksum 0x…" of a table that others rest on: the 64-bit FNV-1a hash of the file's text
   without that line. hu_tsv_seal adds it to a whole table, to which nothing may then be added. */
#define HU_TSV_SEAL "whole"
void hu_tsv_seal(hu_tsv *t);

/* A table read from a file. The table owns the strings of its cells, which live until hu_table_release. */
typedef struct hu_table {
	char *data;
	char **note;
	char **column;
	char **cell;
	int *line; /* of the file, from 1, in which each row stands */
	int notes, columns, rows;
} hu_table;

/* HU_EFILE where the file is no such table, or does not have the rows and the checksum that its seal says; t then
   holds nothing. */
hu_status hu_table_read(hu_table *t, const char *path);
/* The same of a table that has to have a seal; again: what writes the table anew, such as "halfulp analyze RUN". */
hu_status hu_table_read_sealed(hu_table *t, const char *path, const char *again);
/* The same from n bytes of malloc's memory with a zero after them. The table takes data over, also on failure. name
   stands for the file in error messages. */
hu_status hu_table_parse(hu_table *t, const char *name, char *data, size_t n);
void hu_table_release(hu_table *t);
int hu_table_column(const hu_table *t, const char *name);          /* -1 where there is none */
const char *hu_table_cell(const hu_table *t, int row, int column); /* "-" for column -1 */
double hu_table_real(const hu_table *t, int row, int column);      /* NaN for "-" and whatever else is no number */
const char *hu_table_note(const hu_table *t, const char *key);     /* NULL where there is none */
#endif
