/* SPDX-License-Identifier: Apache-2.0
   Numbers for people: few digits, units, grouped thousands, UTF-8. Tables for
   machines have all digits; these are for the page and the terminal. */
#ifndef HU_REPORTS_HUMAN_H
#define HU_REPORTS_HUMAN_H

#include "lib/base/str.h"

#include <jansson.h>

typedef enum hu_quantity {
	HU_UNIT_REAL,     /* 4 significant digits */
	HU_UNIT_SHARE,    /* of 1, as a percentage */
	HU_UNIT_COUNT,    /* an integer in groups of three */
	HU_UNIT_COSINE,   /* near 1 as 1 - x */
	HU_UNIT_BYTES,    /* kB, MB, GB of 1000 */
	HU_UNIT_POWER     /* a power of two as 2^k, else REAL */
} hu_quantity;

/* x as text; NaN gives an en dash, infinities the sign. The string is the caller's to free. */
char *hu_human(double x, hu_quantity unit);
/* The same of a JSON value: a string as it stands, null or absent an en dash. */
char *hu_human_json(const json_t *v, hu_quantity unit);
/* `text` with &, <, >, quotes as entities. */
void hu_html_text(hu_str *b, const char *text);
/* The same, with the exponent after ^ raised. */
void hu_html_number(hu_str *b, const char *text);
/* A dotted or slashed name in at most limit characters where that can be: parts from the left
   shrink to their first letter (numbers stay, they tell layers apart), then the front is cut. */
char *hu_abbreviate(const char *name, size_t limit);
/* A word of a command line, in quotes where a shell needs them. */
void hu_shell_word(hu_str *b, const char *word);
#endif
