/* SPDX-License-Identifier: Apache-2.0
   Geometry of pooling windows with SAME padding: which elements a window covers, and which windows cover an element.
   Host and device; hu_pool_of is for the host only. */
#ifndef HU_OP_WINDOW_H
#define HU_OP_WINDOW_H

#include "lib/op/call.h"

typedef struct hu_pool {
	size_t n, h, w, c, ho, wo, size, stride;
	ptrdiff_t pad_h, pad_w;
} hu_pool;

/* Sets *p for a call on an image of shape x; HU_EINVAL if the attributes do not fit it. */
hu_status hu_pool_of(hu_pool *p, const hu_call *c, hu_shape x);

/* Sets the rows (or columns) [*from, *to) of n that window o covers, with pad rows of padding before them. */
HU_HD void
hu_pool_span(const hu_pool *p, size_t o, size_t n, ptrdiff_t pad, size_t *from, size_t *to)
{
	ptrdiff_t first = (ptrdiff_t)(o * p->stride) - pad, last = first + (ptrdiff_t)p->size;

	*from = first < 0 ? 0 : (size_t)first;
	*to = last < 0 ? 0 : (size_t)last < n ? (size_t)last : n;
}

/* Sets the windows [*from, *to) out of out that cover row (or column) i. */
HU_HD void
hu_pool_windows(const hu_pool *p, size_t i, size_t out, ptrdiff_t pad, size_t *from, size_t *to)
{
	size_t at = i + (size_t)pad; /* in the padded row, window o covers o stride … o stride + size - 1 */

	*from = at < p->size ? 0 : (at - p->size) / p->stride + 1;
	*to = at / p->stride + 1 < out ? at / p->stride + 1 : out;
}
#endif
