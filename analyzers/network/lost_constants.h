/* SPDX-License-Identifier: Apache-2.0
   Constants of a model that a version's formats have no value for, such as an epsilon of 1e-12 in float16. */
#ifndef HU_ANALYZERS_LOST_CONSTANTS_H
#define HU_ANALYZERS_LOST_CONSTANTS_H

#include "lib/program/quantise/version.h"

/* A constant of one value, what it becomes (0 or an infinity), the format, and the layer that reads it so. Or one of
   several values, `lost` of whose `of` elements become infinite; was is the largest of these by magnitude. */
typedef struct hu_lost_constant {
	double was, is;
	hu_format_id format;
	const char *layer;
	size_t lost, of;
} hu_lost_constant;

enum { HU_LOST_CONSTANTS = 3 };

/* The constants whose elements are all one value that is not 0 and becomes 0, or of which elements become infinite, on
   the way to call CALL of V: the nearest to it first, at most HU_LOST_CONSTANTS. Returns how many there are. */
size_t hu_lost_constants(hu_lost_constant *list, const hu_version *v, int call);
#endif
