/* SPDX-License-Identifier: Apache-2.0
   Formats that are no row of formats.def: reading and writing their names. Private to format.c. */
#ifndef HU_NUMBER_CUSTOM_H
#define HU_NUMBER_CUSTOM_H

#include "lib/number/format.h"

/* Returns 1 where name has the shape of such a name. *st then tells whether it stands for a format, which *id
   receives, or for an impossible one. Returns 0 for every other name. */
int hu_custom_find(const char *name, hu_format_id *id, hu_status *st);

/* The name and the summary of such a format. The strings live as long as the program. */
const char *hu_custom_name(hu_format_id id);
const char *hu_custom_summary(hu_format_id id);
#endif
