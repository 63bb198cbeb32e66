/* SPDX-License-Identifier: Apache-2.0
   The result rows of calc, round and formats: a value in a format beside the
   exact one, printed as a table or as JSON. */
#ifndef HU_ANALYZERS_ROWS_H
#define HU_ANALYZERS_ROWS_H

#include "analyzers/expr.h"

#include <jansson.h>

typedef struct hu_row {
	const char *input;
	hu_format f;
	double value;           /* of f */
	double ulps, relative;  /* its errors; infinite where one value is not finite and they differ, 2^-1074 where they are smaller and not 0 */
	int notes;
	char *exact;            /* decimal, 36 digits at most */
} hu_row;

/* Evaluates E in A's format, every operation rounded (ONCE: the exact value is
   rounded once). HU_EINVAL where a code does not fit, or where the exact value leaves MPFR's
   exponents, which are set to their widest in this thread. */
hu_status hu_row_init(hu_row *r, const char *input, const hu_expr *e, hu_arithmetic *a, int once);
void hu_row_release(hu_row *r);

/* The shortest decimal that rounds back to the value, into TEXT of 40 bytes or more. */
void hu_row_shortest(double value, hu_format f, char *text);

/* A code as 0x and the format's number of hex digits, into TEXT of 19 bytes or more. */
void hu_row_code(uint64_t code, hu_format f, char *text);

/* Table: a heading for the first row of an input, then a line a row. */
void hu_row_heading(void);
void hu_row_print(const hu_row *r);

/* {input, format, value, hex, bits, exact, error_ulps, flags}; numbers that are not finite are strings. */
json_t *hu_row_json(const hu_row *r);

/* Hands each line of standard input that is not blank to EACH with TO. Failures, EACH's too, name the line; HU_EINVAL
   where one has a NUL, HU_EFILE where reading fails. */
hu_status hu_rows_read(hu_status (*each)(const char *text, void *to), void *to);

/* Prints ROWS indented and releases it. */
void hu_rows_print_json(json_t *rows);
#endif
