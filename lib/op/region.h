/* SPDX-License-Identifier: Apache-2.0
   Which elements of an output a process judges by itself: a range of them, or a rectangle of a product's rows and
   columns. */
#ifndef HU_OP_REGION_H
#define HU_OP_REGION_H

#include <stddef.h>

/* Elements first to last-1; last 0: all of them. Where row is not 0, first and last are multiples of it, and of each
   row of so many elements only those from left to right-1 belong to the region. */
typedef struct hu_region { size_t first, last, row, left, right; } hu_region;

static inline size_t
hu_region_count(hu_region r)
{
	return r.row ? (r.last - r.first) / r.row * (r.right - r.left) : r.last - r.first;
}

/* Element i of the region, in ascending order, and the place in that order of an element that belongs to it. */
static inline size_t
hu_region_element(hu_region r, size_t i)
{
	return r.row ? r.first + i / (r.right - r.left) * r.row + r.left + i % (r.right - r.left) : r.first + i;
}

static inline size_t
hu_region_place(hu_region r, size_t element)
{
	size_t at = element - r.first;

	return r.row ? at / r.row * (r.right - r.left) + at % r.row - r.left : at;
}
#endif
