/* SPDX-License-Identifier: Apache-2.0
   The result rows of calc, round and formats: a value in a format beside the exact one, printed in a table or as
   JSON. */
#ifndef HU_ANALYZERS_ROWS_H
#define HU_ANALYZERS_ROWS_H

#include "analyzers/expression/expr.h"
#include "lib/base/console/opt.h"

#include <jansson.h>

typedef struct hu_row {
	const char *input, *name;       /* the text that was evaluated; the format's name */
	hu_format f;            /* the format of value: the named one, or fp32 where that is a block format */
	double value;
	uint64_t code;
	int code_bits;
	double ulps, relative; /* the errors of value in ulps and relative; infinite where one of value and exact value
			          is not finite and they differ; 2^-1074 where the error is smaller than that and not
			          0 */
	int notes;
	char *exact;            /* the exact value in decimal, at most 36 digits */
} hu_row;

/* Evaluates e in a's format, with every operation rounded, or, where `once` is 1, with the exact value rounded once.
   HU_EINVAL where a code does not fit the format, or where the exact value leaves the range of MPFR's exponents, which
   are set to their widest in this thread. */
hu_status hu_row_init(hu_row *r, const char *input, const hu_expr *e, hu_arithmetic *a, int once);
void hu_row_release(hu_row *r);

/* The first step of hu_row_init: initialises `exact` and sets it to e's exact value; clears it again on failure. Codes
   are those of f. */
hu_status hu_row_exact(const hu_expr *e, hu_format f, mpfr_ptr exact);

/* The last step of hu_row_init: sets the errors of r->value, which are ulps in units in the last place, and the decimal
   text of `exact`. */
void hu_row_errors(hu_row *r, mpfr_srcptr exact, double ulps);

/* Writes the shortest decimal that rounds back to value into `text`, of at least 40 bytes. */
void hu_row_shortest(double value, hu_format f, char *text);

/* Writes value as printf's %a does, but with a leading 1 for fp64's subnormals too (0x1p-1074), and "nan" for any NaN.
   `text` has at least 32 bytes. */
void hu_row_hex(double value, char *text);

/* Writes a code as 0x and the format's number of hex digits into `text`, of at least 19 bytes. */
void hu_row_code(uint64_t code, hu_format f, char *text);
/* The same for a code of that many bits, at most 64. */
void hu_row_code_of(uint64_t code, int bits, char *text);

/* Prints the table's heading, before the first row of an input and wide enough for the format called `name`; then a
   line for each row. */
void hu_row_heading(const char *name);
void hu_row_print(const hu_row *r);

/* Returns an object {input, format, value, hex, bits, exact, error_ulps, flags}. */
json_t *hu_row_json(const hu_row *r);

/* Calls `each` with every argument in order, where - stands for standard input's lines, until one fails. */
hu_status hu_rows_each(hu_status (*each)(const char *text, void *to), void *to, const hu_args *args);

/* Prints rows indented and releases it. */
void hu_rows_print_json(json_t *rows);
/* The same at the end of a command that ends with st: prints rows only where JSON was asked for, and before a failure
   only the rows that the table would have. */
void hu_rows_end_json(json_t *rows, int json, hu_status st);
#endif
