/* SPDX-License-Identifier: Apache-2.0
   Tables on disk: leading `# key: value` lines of provenance, one header row,
   tab-separated rows. "-" stands for "not measured". Numbers are written with
   17 significant digits, so that they read back to the same double. */
#ifndef HU_BASE_TSV_H
#define HU_BASE_TSV_H

#include "lib/base/file.h"
#include "lib/base/str.h"

typedef struct hu_tsv { hu_str text; size_t head; int columns, at; } hu_tsv;   /* head: where the notes end */

/* A note may come at any time; it stands above the header. COLUMNS: names separated by spaces. */
void hu_tsv_init(hu_tsv *t);
void hu_tsv_note(hu_tsv *t, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void hu_tsv_header(hu_tsv *t, const char *columns);
/* Cells of the current row, left to right; a row ends by itself when it is full. */
void hu_tsv_text(hu_tsv *t, const char *s);   /* as hu_shown has it; "-" where it is empty */
void hu_tsv_real(hu_tsv *t, double x);   /* NaN is written nan, infinities inf and -inf */
void hu_tsv_int(hu_tsv *t, long long x);
void hu_tsv_none(hu_tsv *t);             /* "-" */
/* Writes the table atomically, complete rows that it has so far: whoever cuts a long measurement short keeps them. */
hu_status hu_tsv_save(const hu_tsv *t, const char *path);
/* The same, and releases it. */
hu_status hu_tsv_write(hu_tsv *t, const char *path);
void hu_tsv_release(hu_tsv *t);

/* A table read whole. Cells are strings owned by the table. */
typedef struct hu_table { char *data; char **note; char **column; char **cell; int notes, columns, rows; } hu_table;

hu_status hu_table_read(hu_table *t, const char *path);
/* The same of N bytes from malloc with a zero after them, which the table takes over, also where it fails; NAME stands
   in the reasons. */
hu_status hu_table_parse(hu_table *t, const char *name, char *data, size_t n);
void hu_table_release(hu_table *t);
int hu_table_column(const hu_table *t, const char *name);            /* -1 where absent */
const char *hu_table_cell(const hu_table *t, int row, int column);   /* "-" for column -1 */
double hu_table_real(const hu_table *t, int row, int column);        /* NaN for "-" */
const char *hu_table_note(const hu_table *t, const char *key);       /* NULL where absent */
#endif
