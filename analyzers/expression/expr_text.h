/* SPDX-License-Identifier: Apache-2.0
   The text of an expression: where a number ends, and what messages show of a long one. */
#ifndef HU_ANALYZERS_EXPR_TEXT_H
#define HU_ANALYZERS_EXPR_TEXT_H

#include <stddef.h>

enum { HU_EXPR_SHOWN = 67 }; /* bytes of what messages show, dots and the end included */

/* Returns the expression for a message: all of it, or the part around column `at`, between dots, which is written to
   `text` of HU_EXPR_SHOWN bytes. */
const char *hu_expr_shown(const char *all, int at, char *text);

/* Returns the length of the number at s: digits with a point and an exponent, or the same in hex. */
size_t hu_expr_number_length(const char *s, int *hex, int *integer);
#endif
