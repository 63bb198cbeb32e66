/* SPDX-License-Identifier: Apache-2.0
   Where the elements of one input of a batch lie in a tensor whose inputs lie along any axis. */
#ifndef HU_ANALYZERS_ROWS_H
#define HU_ANALYZERS_ROWS_H

#include <stddef.h>

/* A tensor of `batch` inputs, each of which has `each` elements, `width` of them one behind another. */
typedef struct hu_rows {
	size_t batch, each, width;
} hu_rows;

/* The rows of a tensor of RANK axes D, whose axis AXIS has a multiple of BATCH elements. An axis below 0, or a value
   without axes, is one input's as a whole: BATCH is 1 then. */
hu_rows hu_rows_of(int rank, const size_t *d, int axis, size_t batch);

/* The tensor's element that is element E of input ROW. */
static inline size_t
hu_rows_at(const hu_rows *r, size_t row, size_t e)
{
	return (e / r->width * r->batch + row) * r->width + e % r->width;
}
#endif
