/* SPDX-License-Identifier: Apache-2.0
   Formats that have no row: their names read and written. Private to format.c. */
#ifndef HU_NUMBER_CUSTOM_H
#define HU_NUMBER_CUSTOM_H

#include "lib/number/format.h"

/* 1 where NAME has the shape of such a name: *st tells whether it stands for a
   format (*id) or for an impossible one. 0 for every other name. */
int hu_custom_find(const char *name, hu_format_id *id, hu_status *st);

/* The name of a custom id; lives as long as the program. */
const char *hu_custom_name(hu_format_id id);
const char *hu_custom_summary(hu_format_id id);
#endif
