/* SPDX-License-Identifier: Apache-2.0
   Windows of max pooling with SAME padding: taps outside the image take no part;
   the first maximum of a window wins, and the first NaN beats every number. */
#ifndef HU_OP_POOL_H
#define HU_OP_POOL_H

#include "lib/op/reduce.h"

typedef struct hu_pool {
	size_t n, h, w, c, ho, wo, size, stride;
	ptrdiff_t pad_h, pad_w;
} hu_pool;

/* Geometry of a call on an image of shape X; HU_EINVAL where it has none. */
hu_status hu_pool_of(hu_pool *p, const hu_call *c, hu_shape x);
/* Rows (or columns) [*from, *to) that window O covers of N, with PAD before them. */
void hu_pool_span(const hu_pool *p, size_t o, size_t n, ptrdiff_t pad, size_t *from, size_t *to);
/* Windows [*from, *to) that cover row (or column) I, out of OUT. */
void hu_pool_windows(const hu_pool *p, size_t i, size_t out, ptrdiff_t pad, size_t *from, size_t *to);
/* The element of x that wins output element O. */
size_t hu_pool_winner(const hu_pool *p, const hu_tensor *x, size_t o);
#endif
