/* SPDX-License-Identifier: Apache-2.0
   Numbers that the device computes for a call's own kernels, so that nothing waits for the host: an array of doubles in
   scratch memory, and counters that start at zero. */
#ifndef HU_CUDA_SCALAR_CUH
#define HU_CUDA_SCALAR_CUH

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/scalars.h"
}

HU_KERNEL
hu_zero_kernel(uint64_t *p, size_t n)
{
	for (size_t i = threadIdx.x; i < n; i += blockDim.x)
		p[i] = 0;
}

/* Allocates n counters and sets them to 0. */
static inline hu_status
hu_counters(hu_work *w, uint64_t **p, size_t n)
{
	*p = (uint64_t *)hu_work_take(w, n * sizeof **p);
	return HU_GO(w, hu_zero_kernel, 1, 128, 0, *p, n);
}

static inline double *
hu_numbers(hu_work *w, size_t n)
{
	return (double *)hu_work_take(w, n * sizeof(double));
}

/* Sums over the warp and then, by integer atomics, over all threads. Every lane calls it. */
HU_DEVICE void
hu_count_in(uint64_t *to, uint64_t mine)
{
	for (unsigned by = 16; by; by /= 2)
		mine += hu_shfl_down(mine, by);
	if (threadIdx.x % 32 == 0 && mine)
		hu_atomic_add(to, mine);
}

HU_DEVICE void
hu_largest_in(uint64_t *to, uint64_t mine)
{
	for (unsigned by = 16; by; by /= 2) {
		uint64_t other = hu_shfl_down(mine, by);
		mine = other > mine ? other : mine;
	}
	if (threadIdx.x % 32 == 0 && mine)
		hu_atomic_max(to, mine);
}
#endif
