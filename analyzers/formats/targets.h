/* SPDX-License-Identifier: Apache-2.0
   What numbers are rounded to where a command takes both: formats of single numbers, and block formats. */
#ifndef HU_ANALYZERS_TARGETS_H
#define HU_ANALYZERS_TARGETS_H

#include "lib/number/block.h"

typedef struct hu_target {
	hu_format_id format;    /* HU_NO_FORMAT: a block format */
	hu_block block;
} hu_target;

/* Names between commas into `out`, max at most, each format once, whatever names it goes by. HU_EINVAL for an unknown
   one, an empty one, too many, or none. */
hu_status hu_target_list(const char *text, hu_target *out, int max, int *n);

/* The format's name; a block format's as it was given. */
const char *hu_target_name(const hu_target *t);
#endif
