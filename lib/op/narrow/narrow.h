/* SPDX-License-Identifier: Apache-2.0
   Some groups of a map's elements alone, so that a process that judges a tile of a call computes the statistics of that
   tile's groups and no others. narrow_stats.c and narrow_norm.c say which groups a range of an output needs. */
#ifndef HU_OP_NARROW_H
#define HU_OP_NARROW_H

#include "lib/op/element/map.h"

/* Groups first to last-1; last 0: all of them. */
typedef struct hu_span { size_t first, last; } hu_span;

/* m: the narrowed map, whose operands are views of the whole map's, except that columns are copied. */
typedef struct hu_narrow_map {
	hu_map m;
	hu_tensor t[HU_MAP_IN];
	hu_low low[HU_MAP_IN];
	void *copy[HU_MAP_IN];
} hu_narrow_map;

/* Narrows map m to the groups of the span, which is not empty. how says what a group is: a row (HU_ROW), a channel
   (HU_CHANNEL), a channel of an image (HU_IMAGE; the span then has whole images), or a single element (HU_EACH). The
   call's own operands must have no trailing parts yet (hu_map_context_dd). The struct must not be moved; *m must
   outlive it. */
void hu_narrow_init(hu_narrow_map *v, const hu_map *m, hu_how how, hu_span some);
void hu_narrow_release(hu_narrow_map *v);

/* A view of n elements of t from element `first` on. */
hu_tensor hu_narrow_view(const hu_tensor *t, size_t first, size_t n);
/* A copy of columns first to last-1 of t, whose rows have C elements. The caller frees its data. */
hu_tensor hu_narrow_columns(const hu_tensor *t, size_t C, hu_span some);
#endif
