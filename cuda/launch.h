/* SPDX-License-Identifier: Apache-2.0
   How a kernel is written here so that one source serves two sides: nvcc makes it a
   kernel of the GPU, any C++ compiler a function that cuda/shim.cc runs on the host with
   a coroutine a thread. Kernels are launched through HU_LAUNCH alone, shared memory is
   declared through HU_SHARED, and everything a warp does together has a function below
   or in mma.h. All kernels of a side stand behind names made by HU_SIDE. */
#ifndef HU_CUDA_LAUNCH_H
#define HU_CUDA_LAUNCH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "lib/base/status.h"
}

#ifdef __CUDACC__
#include <cuda_runtime.h>

#define HU_SIDE(name) hu_gpu_##name
#define HU_KERNEL static __global__ void
/* With at most N threads a block, so that the compiler may spend their registers. */
#define HU_KERNEL_OF(n) static __global__ void __launch_bounds__(n)
#define HU_DEVICE static __device__ __forceinline__
#define HU_DEVICE_MEMBER __device__ __forceinline__
/* A parameter that the kernel takes the address of: it stays where the launch put it. */
#define HU_PARAM const __grid_constant__
#define HU_UNROLL _Pragma("unroll")
/* A loop whose body is long: one copy of it. */
#define HU_ONCE _Pragma("unroll 1")

/* Records a launch that failed; the reason names KERNEL. */
hu_status hu_gpu_launched(const char *kernel);

/* A status: HU_EDEVICE where the launch was refused. GRID and BLOCK: dim3 or numbers. */
#define HU_LAUNCH(kernel, grid, block, shared_bytes, queue, ...) \
	((kernel)<<<(grid), (block), (shared_bytes), (cudaStream_t)(queue)>>>(__VA_ARGS__), hu_gpu_launched(#kernel))

/* type name[n], one array a block; unset at the start. */
#define HU_SHARED(type, name, n) __shared__ type name[n]
/* As many bytes as the launch gave, 16-byte aligned. */
#define HU_SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]

/* Every thread of the block arrives, or none. */
#define HU_SYNC() __syncthreads()

/* Every lane of the warp takes part; blocks that call these are whole warps. */
template <class T> HU_DEVICE T hu_shfl(T x, unsigned lane) { return __shfl_sync(0xffffffffu, x, (int)lane); }
template <class T> HU_DEVICE T hu_shfl_down(T x, unsigned by) { return __shfl_down_sync(0xffffffffu, x, by); }
template <class T> HU_DEVICE T hu_shfl_xor(T x, unsigned mask) { return __shfl_xor_sync(0xffffffffu, x, (int)mask); }
HU_DEVICE uint32_t hu_ballot(int p) { return __ballot_sync(0xffffffffu, p); }
HU_DEVICE void hu_syncwarp(void) { __syncwarp(); }

/* Integers alone: their order cannot be seen in the result. Each returns the old value. */
HU_DEVICE uint32_t hu_atomic_add(uint32_t *p, uint32_t x) { return atomicAdd(p, x); }
HU_DEVICE uint32_t hu_atomic_max(uint32_t *p, uint32_t x) { return atomicMax(p, x); }
HU_DEVICE uint32_t hu_atomic_or(uint32_t *p, uint32_t x) { return atomicOr(p, x); }
HU_DEVICE uint64_t
hu_atomic_add(uint64_t *p, uint64_t x)
{
	return atomicAdd((unsigned long long *)p, (unsigned long long)x);
}
HU_DEVICE uint64_t
hu_atomic_max(uint64_t *p, uint64_t x)
{
	return atomicMax((unsigned long long *)p, (unsigned long long)x);
}

#else
#include "cuda/shim.h"
#endif

/* The number of blocks of SIZE that N items need, at least one and at most MOST: kernels stride over what is left. */
static inline unsigned
hu_blocks_for(size_t n, size_t size, size_t most)
{
	size_t b = (n + size - 1) / size;

	return (unsigned)(b < 1 ? 1 : b > most ? most : b);
}
#endif
