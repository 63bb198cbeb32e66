/* SPDX-License-Identifier: Apache-2.0
   Maps of codes to values between -1 and 1, by which optimizers of short states hold moments: a block's elements are
   its largest magnitude times values of the map. */
#ifndef HU_NUMBER_MAP_H
#define HU_NUMBER_MAP_H

#include "lib/base/status.h"

enum { HU_MAP_MOST = 256 };

typedef struct hu_code_map {
	int n;                    /* how many codes: 16 or 256 */
	float value[HU_MAP_MOST]; /* ascending */
} hu_code_map;

/* Finds a map by name. dynamic8, dynamic8u, dynamic4: bitsandbytes' create_dynamic_map of so many bits, signed and
   unsigned: decades with twice as many values each, 0 and 1; signed ones have no -1. linear4u: 1/16, 2/16 to 1, which
   has no 0. HU_EINVAL lists them. */
hu_status hu_code_map_find(const char *name, hu_code_map *m);
/* The code of the value nearest to x, the larger one where two are. x is not NaN. */
int hu_code_map_nearest(const hu_code_map *m, float x);

#endif
