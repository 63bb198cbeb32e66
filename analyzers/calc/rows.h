/* SPDX-License-Identifier: Apache-2.0
   The result rows of calc, round and formats: a value in a format beside the
   exact one, printed as a table or as JSON. */
#ifndef HU_ANALYZERS_ROWS_H
#define HU_ANALYZERS_ROWS_H

#include "analyzers/calc/expr.h"

#include <jansson.h>

typedef struct hu_row {
	const char *input, *name;       /* NAME: the format's */
	hu_format f;            /* of which VALUE is one: the format, or fp32 where that is a block format */
	double value;
	uint64_t code;
	int code_bits;
	double ulps, relative; /* its errors; infinite where one value is not finite and they differ, 2^-1074 where they
				  are smaller and not 0 */
	int notes;
	char *exact;            /* decimal, 36 digits at most */
} hu_row;

/* Evaluates e in a's format, every operation rounded (`once`: the exact value is
   rounded once). HU_EINVAL where a code does not fit, or where the exact value leaves MPFR's
   exponents, which are set to their widest in this thread. */
hu_status hu_row_init(hu_row *r, const char *input, const hu_expr *e, hu_arithmetic *a, int once);
void hu_row_release(hu_row *r);

/* The first step of it: e's exact value into exact, which is initialised here and cleared on failure. Codes are those
   of f. */
hu_status hu_row_exact(const hu_expr *e, hu_format f, mpfr_ptr exact);

/* The last step: the errors of r->value, which are ulps, and exact's decimal. */
void hu_row_errors(hu_row *r, mpfr_srcptr exact, double ulps);

/* The shortest decimal that rounds back to the value, into `text` of 40 bytes or more. */
void hu_row_shortest(double value, hu_format f, char *text);

/* As %a, but fp64's subnormals with a leading 1 too (0x1p-1074), as every other format's; "nan" of any NaN. `text` of
   32 bytes or more. */
void hu_row_hex(double value, char *text);

/* A code as 0x and the format's number of hex digits, into `text` of 19 bytes or more. */
void hu_row_code(uint64_t code, hu_format f, char *text);
/* The same of a code of that many bits, 64 at most. */
void hu_row_code_of(uint64_t code, int bits, char *text);

/* Table: a heading for the first row of an input, as wide as `name`, a format's, needs, then a line a row. */
void hu_row_heading(const char *name);
void hu_row_print(const hu_row *r);

/* A number, or a string where it is not finite: nan, inf, -inf. */
json_t *hu_row_number(double x);

/* {input, format, value, hex, bits, exact, error_ulps, flags}; numbers as by hu_row_number. */
json_t *hu_row_json(const hu_row *r);

/* Hands each line of standard input that is not blank to EACH with `to`. Failures, EACH's too, name the line; HU_EINVAL
   where one has a NUL, HU_EFILE where reading fails. */
hu_status hu_rows_read(hu_status (*each)(const char *text, void *to), void *to);

/* Prints rows indented and releases it. */
void hu_rows_print_json(json_t *rows);
#endif
