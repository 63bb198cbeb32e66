/* SPDX-License-Identifier: Apache-2.0
   Copies between slices of two arrays, for the kernels of concat and its gradient. */
#ifndef HU_CUDA_SLICE_CUH
#define HU_CUDA_SLICE_CUH

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/attr.h"
}

/* n elements in stretches of length: stretch r is from + r across on of the one array and to + r along on of the
   other. */
typedef struct hu_slice { uint32_t n, length, from, across, to, along; } hu_slice;

/* The product of the dimensions from axis on. */
static inline uint32_t
hu_slice_length(const hu_shape *s, size_t axis)
{
	size_t n = 1;

	for (int k = (int)axis; k < s->rank; k++)
		n *= s->d[k];
	return (uint32_t)n;
}

HU_DEVICE void
hu_slice_copy(const hu_slice *s, const hu_store_operand *x, const hu_store_result *y)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s->n; i += gridDim.x * blockDim.x) {
		uint32_t r = i / s->length, k = i % s->length;
		hu_store_f64(y, s->to + r * s->along + k, hu_load_f64(x, s->from + r * s->across + k));
	}
}
#endif
