/* SPDX-License-Identifier: Apache-2.0
   Windows of pooling. Positions outside the image do not take part. The first maximum of a window
   wins, and the first NaN beats every number. */
#ifndef HU_OP_POOL_H
#define HU_OP_POOL_H

#include "lib/op/reduce/reduce.h"
#include "lib/op/pool/window.h"

/* Counts the elements in all windows together, each as often as it is covered. */
double hu_pool_covered(const hu_pool *p);
/* The element of x that is the maximum for output element o. */
size_t hu_pool_winner(const hu_pool *p, const hu_tensor *x, size_t o);

/* Encloses a call's listed outputs one by one: element i by one(…, i). */
typedef hu_dd hu_pool_value(const hu_pool *p, hu_tensor *const *in, const hu_sink *sink, size_t i);
hu_status hu_pool_enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	hu_sink *sink, hu_pool_value *one);
#endif
