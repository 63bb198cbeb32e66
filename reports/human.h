/* SPDX-License-Identifier: Apache-2.0
   Numbers for people: few digits, units, grouped thousands, UTF-8. Tables for machines have all digits; these texts are
   for the page and the terminal. */
#ifndef HU_REPORTS_HUMAN_H
#define HU_REPORTS_HUMAN_H

#include "lib/base/str.h"

#include <jansson.h>

typedef enum hu_quantity {
	HU_UNIT_REAL,   /* 4 significant digits */
	HU_UNIT_SHARE,  /* a share of 1, as a percentage */
	HU_UNIT_COUNT,  /* an integer in groups of three */
	HU_UNIT_COSINE, /* values near 1 as 1 - x */
	HU_UNIT_BYTES,  /* kB, MB, GB, each 1000 of the one before */
	HU_UNIT_POWER,  /* a power of two as 2^k, else REAL */
	HU_UNIT_ULP     /* as REAL; beyond 2^24, where errors exceed what they are errors of, > 2^24 */
} hu_quantity;

/* Returns x as text; NaN becomes an en dash, an infinity its sign. The caller frees the string. */
char *hu_human(double x, hu_quantity unit);
/* The same for a JSON value: a string is copied unless it stands for an infinity, null or an absent value becomes an en
   dash. */
char *hu_human_json(const json_t *v, hu_quantity unit);
/* Appends `text` with &, <, > and quotes as entities. */
void hu_html_text(hu_str *b, const char *text);
/* Appends text with exponents after ^ as superscript characters, which a picture, a page and a terminal show. */
void hu_add_raised(hu_str *b, const char *text);
/* hu_html_text with an exponent after ^ raised, and 1.5e-07 as 1.5·10⁻⁷. A number that the text begins with has a minus
   sign in place of a hyphen, and is ∞ where it is inf. */
void hu_html_number(hu_str *b, const char *text);
/* Returns a dotted or slashed name in at most limit characters where that is possible: parts from the left shrink to
   their first letter (numbers stay, since they tell layers apart), then the front is cut off. The caller frees it. */
char *hu_abbreviate(const char *name, size_t limit);
#endif
