/* SPDX-License-Identifier: Apache-2.0
   What the files of maps share: which value of a source an element reads, and bounds of many results of a call. map.c
   computes elements with it, map_judge.c and map_enclose.c judge them. */
#ifndef HU_OP_ELEMENT_MAP_SOURCE_H
#define HU_OP_ELEMENT_MAP_SOURCE_H

#include "lib/op/element/map.h"

/* hu_bound_of (map.h) of n values. */
void hu_map_bounds(const hu_call *c, hu_format_id format, size_t n, const hu_bounded *x, double *bound);

/* The index within a source that element i reads. */
static inline size_t
hu_source_place(const hu_map *m, hu_how how, size_t i)
{
	switch (how) {
	case HU_EACH: return i;
	case HU_CHANNEL: return i % m->channels;
	case HU_ROW: return i / m->channels;
	case HU_IMAGE: return i / m->image * m->channels + i % m->channels;
	case HU_ONE:
	case HU_INDEX: break; /* the one element, or none */
	}
	return 0;
}

/* The value that element i reads of a source, exact. */
static inline double
hu_source_value(const hu_map *m, const hu_source *s, size_t i)
{
	return s->how == HU_INDEX ? (double)(i % m->channels) : hu_get(s->t, hu_source_place(m, s->how, i));
}
#endif
