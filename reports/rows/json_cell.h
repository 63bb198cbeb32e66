/* SPDX-License-Identifier: Apache-2.0
   Cells of tables that a command prints as JSON: how a column finds its value in a row, and the value as text. */
#ifndef HU_REPORTS_JSON_CELL_H
#define HU_REPORTS_JSON_CELL_H

#include <jansson.h>

/* Finds the value of a column in an object; NULL where it has none. The column a.b is key b of the object at key a; an
   underscore in the column stands for a blank in a key, too. */
const json_t *hu_json_cell(const json_t *row, const char *column);
/* Returns the value as text, which the caller frees: reals have 17 significant digits, true is 1 and false 0, the
   elements of an array are separated by commas, and null is "-". */
char *hu_json_cell_text(const json_t *v);
#endif
