/* SPDX-License-Identifier: Apache-2.0
   A table of what a command printed as JSON or wrote as TSV, with rows and columns chosen. json_table_write.c writes
   it. */
#ifndef HU_REPORTS_JSON_TABLE_H
#define HU_REPORTS_JSON_TABLE_H

#include "lib/base/str.h"
#include "lib/base/status.h"

typedef struct hu_json_table_column {
	char *name;
	int shown; /* 0: a column that is there when it is asked for by name */
} hu_json_table_column;

typedef struct hu_json_table {
	hu_json_table_column *column;
	int columns, cap;
	char **cell; /* rows times columns, each owned; NULL: missing */
	size_t rows;
} hu_json_table;

/* Makes the table of n bytes of JSON. of is the key (a.b: key b of the object at a) of the array whose objects are the
   rows; NULL: the array that the JSON is, or the only array of objects in it; where there is none, or of is ".", the
   object is the one row. Where several objects have an array `of`, its rows stand one below the other. Objects in a row
   become columns a.b, arrays of plain values one cell, and arrays of objects are left out. The plain columns of the
   object around an array can be asked for. HU_EFILE: no JSON; HU_EINVAL: no such array, or a choice between several. g
   is to be released in any case. */
hu_status hu_json_table_of_json(hu_json_table *g, const char *json, size_t n, const char *of);
/* The same of a table in a file. */
hu_status hu_json_table_of_tsv(hu_json_table *g, const char *path);
void hu_json_table_release(hu_json_table *g);

/* Returns 1 where text is one of the words of list, which | separates. */
int hu_json_table_among(const char *text, const char *list);
/* Keeps the rows whose cell in column C is one of the texts of "C=TEXT|TEXT", or none of those of "C!=TEXT|TEXT";
   "-" is a missing cell. HU_EINVAL: no such column. */
hu_status hu_json_table_where(hu_json_table *g, const char *condition);
/* Keeps the columns that the list names, in its order. HU_EINVAL: no such column. */
hu_status hu_json_table_choose(hu_json_table *g, const char *list);
/* Keeps the columns that are shown where nothing is chosen, and drops those without a cell. */
void hu_json_table_shown(hu_json_table *g);

typedef enum hu_json_table_kind { HU_JSON_TABLE_TEX, HU_JSON_TABLE_MARKDOWN, HU_JSON_TABLE_TSV } hu_json_table_kind;

/* Appends the table: LaTeX's tabular with the rules of booktabs (a longtable above 45 rows), Markdown, or TSV. Where
   digits is above 0, reals have so many significant digits. command is the line whose rows they are; it stands in a
   comment above them, beside the version of this program. */
void hu_json_table_write(hu_str *to, const hu_json_table *g, hu_json_table_kind kind, int digits, const char *command);
#endif
