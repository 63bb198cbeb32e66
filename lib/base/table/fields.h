/* SPDX-License-Identifier: Apache-2.0
   Tables: an array of structs, and columns that say where in a struct each value lies, what it is, and what it means.
   One description serves every form in which rows leave the program: text that fits the terminal, TSV, JSON, and
   tables for documents. A value that was not measured is "-" in tables and null in JSON; in JSON a number that is not
   finite is the string "nan", "inf" or "-inf". */
#ifndef HU_BASE_TABLE_FIELDS_H
#define HU_BASE_TABLE_FIELDS_H

#include "lib/base/terminal/fitted.h"
#include "lib/base/tsv.h"

#include <jansson.h>
#include <stddef.h>

typedef enum hu_field_kind {
	HU_FIELD_TEXT,     /* const char *; NULL and "" where there is none */
	HU_FIELD_PROSE,    /* the same, a sentence: on a terminal it is wrapped */
	HU_FIELD_WORDS,    /* the same, words that blanks separate: JSON's array of them; wrapped too */
	HU_FIELD_COUNT,    /* long long; below 0 where it was not measured */
	HU_FIELD_INT,      /* int */
	HU_FIELD_FLAG,     /* int: yes or no, JSON's true or false, 1 or 0 in TSV; below 0 where it was not measured */
	HU_FIELD_REAL,     /* double, of which NaN is a value */
	HU_FIELD_MEASURED, /* double, NaN where it was not measured */
	HU_FIELD_BYTES,    /* double, a size in bytes, with its unit in the text; NaN where it was not measured */
	HU_FIELD_POWER,    /* int e, which stands for the number 2^e; INT_MIN where it was not measured */
	HU_FIELD_CELL,     /* hu_field_cell: a text or a number, as rows differ */
	HU_FIELD_SIZES,    /* hu_field_sizes: JSON's array of whole numbers, 2x3 in tables; NULL: not measured */
	HU_FIELD_JSON      /* json_t *, such as an array of records, which the object of the row takes over; NULL where
				there is none. Tables have no room for it: "-" */
} hu_field_kind;

/* A text, or where that is NULL a number, NaN where it was not measured. It stands at the right edge of its column. */
typedef struct hu_field_cell {
	double value;
	const char *text;
} hu_field_cell;

typedef struct hu_field_sizes {
	const size_t *v;
	int n;
} hu_field_sizes;

/* Where a column is: everywhere, in the text alone, or in what programs read alone. */
typedef enum hu_field_place { HU_FIELD_ANYWHERE, HU_FIELD_SHOWN, HU_FIELD_WRITTEN } hu_field_place;

enum { HU_FIELD_WHOLE = -64 }; /* digits of a real of which the text has none behind the point */

typedef struct hu_table_field {
	const char *name;    /* in TSV and JSON */
	const char *heading; /* in the text; NULL: the name */
	const char *unit;    /* behind the heading, such as "dB"; NULL: none */
	hu_field_kind kind;
	size_t offset;     /* of the value in a row */
	int digits;        /* of a real in the text: significant ones, or -N for N behind the point; 0: 6, and
				a power as 2^N */
	int rank;          /* those of the largest rank are left out first of a narrow text; 0: never */
	const char *means; /* a sentence without its stop */
	hu_field_place place;
	unsigned only;   /* the column is there where `with` of the table has one of these bits; 0: always */
	int least;       /* the least width of a column whose rows are printed one by one */
	int most;        /* the width at which its texts are always wrapped; 0: only where they must */
	const char *tex; /* the heading in LaTeX; NULL: the heading */
} hu_table_field;

typedef struct hu_fields {
	const hu_table_field *column;
	size_t n, stride; /* columns; bytes from one row to the next */
	unsigned with;
	int dense; /* a column in which no row has a value is left out of the text, unless its rank is 0 */
} hu_fields;

#define HU_FIELDS(column_, row_type)                                                                                   \
	{                                                                                                              \
		(column_), sizeof(column_) / sizeof *(column_), sizeof(row_type), 0, 0                                 \
	}

/* A column of rows of a type, in one line: HU_FIELD_OF(row, "name", COUNT, member, WRITTEN, "what it means", .rank =
 * 2).
 */
#define HU_FIELD_OF(row_, name_, kind_, member_, place_, means_, ...)                                                  \
	{                                                                                                              \
		.name = (name_), .kind = HU_FIELD_##kind_, .offset = offsetof(row_, member_),                          \
		.place = HU_FIELD_##place_, .means = (means_), __VA_ARGS__                                             \
	}

/* Returns 1 where column i is in the table's text, or in its TSV and JSON. */
int hu_fields_shown(const hu_fields *t, size_t i);
int hu_fields_written(const hu_fields *t, size_t i);
/* Returns the column of this name, or of this heading, or -1. */
int hu_fields_find(const hu_fields *t, const char *name);

/* Returns 1 where the row has no value of the column. */
int hu_field_empty(const hu_table_field *c, const void *row);
int hu_field_is_text(const hu_table_field *c);
/* Returns the value as a double: NaN for texts, and where it was not measured. */
double hu_field_value(const hu_table_field *c, const void *row);
/* Compares two rows by a column, as qsort's functions do; rows without a value are equal to each other and come last.
 */
int hu_field_order(const hu_table_field *c, const void *a, const void *b, int descending);
/* Appends the value as the text has it: "-" where there is none. */
void hu_field_text(hu_str *b, const hu_table_field *c, const void *row);

/* Returns a number for JSON, or a string where x is not finite. */
json_t *hu_fields_number(double x);
json_t *hu_fields_measured(double x); /* the same, and null for NaN, which stands for what was not measured */
/* Returns the object of a row, and the array of n rows; the caller owns them. */
json_t *hu_fields_object(const hu_fields *t, const void *row);
json_t *hu_fields_array(const hu_fields *t, const void *rows, size_t n);

/* Gives each object of an array the keys that another has, as null: rows of several kinds have the same keys. */
void hu_fields_complete(json_t *rows);

/* Appends the names of what programs read, separated by blanks. */
void hu_fields_names(hu_str *to, const hu_fields *t);
/* Appends the header, and a row, to a TSV. */
void hu_fields_tsv_header(hu_tsv *to, const hu_fields *t);
void hu_fields_tsv_row(hu_tsv *to, const hu_fields *t, const void *row);

/* Prints headings and n rows on standard output, so that they fit the terminal, and below them how many columns were
   left out and where they are: a text such as "--json has them all". NULL says nothing. */
void hu_fields_print(const hu_fields *t, const void *rows, size_t n, const char *where);
/* The same to a file. */
void hu_fields_print_to(FILE *f, const hu_fields *t, const void *rows, size_t n, const char *where);
/* The same, row by row: begins with the headings; a row is printed at once. The caller ends by hu_fitted_left_out and
   hu_fitted_release. */
void hu_fields_begin(hu_fitted *to, const hu_fields *t);
void hu_fields_row(hu_fitted *to, const hu_fields *t, const void *row);

typedef enum hu_fields_markup { HU_FIELDS_LATEX, HU_FIELDS_MARKDOWN } hu_fields_markup;

/* Appends what programs read, as a table for a document. */
void hu_fields_document(hu_str *to, const hu_fields *t, const void *rows, size_t n, hu_fields_markup markup);
/* Prints what each column means on standard output, as help has it. */
void hu_fields_help(const hu_fields *t);
#endif
