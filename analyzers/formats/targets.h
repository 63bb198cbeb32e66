/* SPDX-License-Identifier: Apache-2.0
   The targets of a cast, for commands that take both: formats of single numbers, and block formats. */
#ifndef HU_ANALYZERS_TARGETS_H
#define HU_ANALYZERS_TARGETS_H

#include "lib/number/block/block.h"

typedef struct hu_target {
	hu_format_id format;    /* HU_NO_FORMAT: a block format */
	hu_block block;
} hu_target;

/* Parses names separated by commas into `out`, at most max of them; each format appears once, even if it is given by
   several names. HU_EINVAL for an unknown name, an empty one, too many, or none. */
hu_status hu_target_list(const char *text, hu_target *out, int max, int *n);

/* Returns the format's name, or a block format's as it was given. */
const char *hu_target_name(const hu_target *t);
#endif
