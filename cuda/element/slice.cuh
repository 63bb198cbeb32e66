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

HU_KERNEL
hu_slice_kernel(HU_PARAM hu_slice s, HU_PARAM hu_store_operand x, HU_PARAM hu_store_result y)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.n; i += gridDim.x * blockDim.x) {
		uint32_t r = i / s.length, k = i % s.length;
		hu_store_f64(&y, s.to + r * s.along + k, hu_load_f64(&x, s.from + r * s.across + k));
	}
}

/* On the host: copies between operand x and the result y. */
static inline hu_status
hu_slice_copy(hu_work *w, hu_slice s, const hu_slot *x, hu_store_result y)
{
	return HU_GO(w, hu_slice_kernel, hu_blocks_for(s.n, 256, 65535), 256, 0, s, hu_operand_of(x, HU_AT_EACH), y);
}
#endif
