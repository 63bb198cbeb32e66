/* SPDX-License-Identifier: Apache-2.0
   Windows of max pooling with SAME padding: taps outside the image take no part;
   the first maximum of a window wins, and the first NaN beats every number. */
#ifndef HU_OP_POOL_H
#define HU_OP_POOL_H

#include "lib/op/reduce.h"
#include "lib/op/window.h"

/* The element of x that wins output element O. */
size_t hu_pool_winner(const hu_pool *p, const hu_tensor *x, size_t o);
#endif
