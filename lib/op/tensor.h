/* SPDX-License-Identifier: Apache-2.0
   A dense row-major array of values of one format, as the interpreters see it. In memory a value is a float that holds
   it exactly, or a double if the format is fp64. The formats' bit codes exist only on disk (lib/store) and on a device.
   Images are NHWC. */
#ifndef HU_OP_TENSOR_H
#define HU_OP_TENSOR_H

#include "lib/number/format.h"

enum { HU_RANK = 8 };

typedef struct hu_shape { int rank; size_t d[HU_RANK]; } hu_shape;

typedef struct hu_tensor {
	hu_format_id format;
	hu_shape shape;
	size_t n;      /* elements */
	void *data;    /* float[n], or double[n] for fp64 */
	/* Element i is data[i] + low[i] + low[n + i] + …, with lows such trailing parts: more than a double holds, for
	   exact references of intermediate values (lib/judge/propagate.h). hu_exact_get reads them; everything else
	   reads the first part alone. */
	const double *low;
	int lows;
} hu_tensor;

static inline int hu_is_wide(hu_format_id f) { return f == HU_FP64; }
static inline size_t hu_element_size(hu_format_id f) { return hu_is_wide(f) ? sizeof(double) : sizeof(float); }

static inline double
hu_get(const hu_tensor *t, size_t i)
{
	return hu_is_wide(t->format) ? ((const double *)t->data)[i] : (double)((const float *)t->data)[i];
}

/* Stores x, which must be a value of the tensor's format. */
static inline void
hu_put(hu_tensor *t, size_t i, double x)
{
	if (hu_is_wide(t->format))
		((double *)t->data)[i] = x;
	else
		((float *)t->data)[i] = (float)x;
}

static inline size_t
hu_count(hu_shape s)
{
	size_t n = 1;

	for (int i = 0; i < s.rank; i++)
		n *= s.d[i];
	return n;
}

static inline hu_shape hu_shape0(void) { hu_shape s = { 0, { 1, 1, 1, 1 } }; return s; }
static inline hu_shape hu_shape1(size_t a) { hu_shape s = { 1, { a, 1, 1, 1 } }; return s; }
static inline hu_shape hu_shape2(size_t a, size_t b) { hu_shape s = { 2, { a, b, 1, 1 } }; return s; }
static inline hu_shape hu_shape3(size_t a, size_t b, size_t c) { hu_shape s = { 3, { a, b, c, 1 } }; return s; }
static inline hu_shape
hu_shape4(size_t a, size_t b, size_t c, size_t d)
{
	hu_shape s = { 4, { a, b, c, d } };
	return s;
}

/* The size of the last dimension (features or channels); 1 for a scalar. */
static inline size_t hu_last(hu_shape s) { return s.rank ? s.d[s.rank - 1] : 1; }

static inline int
hu_same_shape(hu_shape a, hu_shape b)
{
	if (a.rank != b.rank)
		return 0;
	for (int i = 0; i < a.rank; i++)
		if (a.d[i] != b.d[i])
			return 0;
	return 1;
}
#endif
