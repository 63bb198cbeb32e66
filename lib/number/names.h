/* SPDX-License-Identifier: Apache-2.0
   The names of formats and rounding modes, from their tables. Private to this folder. */
#ifndef HU_NUMBER_NAMES_H
#define HU_NUMBER_NAMES_H

#include "lib/number/format.h"

/* alias holds further names, separated by commas. */
typedef struct hu_name { const char *name, *alias, *summary; } hu_name;

extern const hu_name hu_format_names[HU_FORMATS], hu_mode_names[HU_MODES];

/* Returns the index of the row, among n, that has this name or alias in any case; -1 where there is none. */
int hu_name_find(const hu_name *rows, int n, const char *name);
#endif
