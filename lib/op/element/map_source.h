/* SPDX-License-Identifier: Apache-2.0
   Which value of a source an element reads. map.c computes elements with it and map_judge.c judges them. */
#ifndef HU_OP_ELEMENT_MAP_SOURCE_H
#define HU_OP_ELEMENT_MAP_SOURCE_H

#include "lib/op/element/map.h"

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
