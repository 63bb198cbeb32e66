/* SPDX-License-Identifier: Apache-2.0
   The language in which kernels are written, so that one source serves two sides: nvcc compiles it for the GPU, and any
   C++ compiler into functions that cuda/shim/shim.cc runs on the host, one coroutine per thread. Kernels are launched
   only through HU_LAUNCH, shared memory is declared through HU_SHARED, and everything that a warp does together has a
   function below or in mma.h. HU_SIDE makes the names of each side's functions. */
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
/* With at most n threads per block, so that the compiler may give each thread more registers. */
#define HU_KERNEL_OF(n) static __global__ void __launch_bounds__(n)
/* The same, with at least this many blocks resident on a multiprocessor. */
#define HU_KERNEL_FOR(n, blocks) static __global__ void __launch_bounds__(n, blocks)
#define HU_DEVICE static __device__ __forceinline__
/* A function that is called rather than inlined, because it is large and has many callers. */
#define HU_DEVICE_CALL static __device__ __noinline__ __attribute__((unused))
#define HU_DEVICE_MEMBER __device__ __forceinline__
/* The same, which the host calls too. Of a member that is for the device alone, nvcc makes one for the host that ends
   the program without a word. */
#define HU_BOTH_MEMBER __host__ __device__ __forceinline__
/* A parameter whose address the kernel takes; it is not copied from where the launch put it. */
#define HU_PARAM const __grid_constant__
#define HU_UNROLL _Pragma("unroll")
/* Keeps a single copy of a loop with a long body. */
#define HU_ONCE _Pragma("unroll 1")
/* Makes as many copies as the constant expression n says. */
#define HU_UNROLL_BY(n) HU_PRAGMA(unroll n)
#define HU_PRAGMA(text) _Pragma(#text)

/* Records a launch that failed; the reason names the kernel. */
hu_status hu_gpu_launched(const char *kernel);
/* Turns the result of a call of the CUDA runtime into a status; what says what was being done. */
hu_status hu_gpu_checked(cudaError_t e, const char *what);

/* A hu_status: HU_EDEVICE if the launch was refused. grid and block are dim3 or numbers. */
#define HU_LAUNCH(kernel, grid, block, shared_bytes, queue, ...) \
	((kernel)<<<(grid), (block), (shared_bytes), (cudaStream_t)(queue)>>>(__VA_ARGS__), hu_gpu_launched(#kernel))

/* The same with more shared memory than every launch may have, at most HU_MOST_SHARED bytes. */
template <class K>
static inline void
hu_gpu_large(K *kernel, size_t bytes)
{
	cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
		(int)bytes); /* the launch reports what went wrong */
}
#define HU_LAUNCH_LARGE(kernel, grid, block, shared_bytes, queue, ...)                                                 \
	(hu_gpu_large(kernel, shared_bytes), HU_LAUNCH(kernel, grid, block, shared_bytes, queue, __VA_ARGS__))

/* The same as HU_LAUNCH_LARGE with blocks in pairs along x, which run side by side and reach each other's shared memory
   (thread block clusters). The number of blocks is even. */
template <class... P, class... A>
static inline void
hu_gpu_pairs(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, void *queue, const A &...a)
{
	cudaLaunchConfig_t c;
	cudaLaunchAttribute pairs;

	memset(&c, 0, sizeof c);
	memset(&pairs, 0, sizeof pairs);
	pairs.id = cudaLaunchAttributeClusterDimension;
	pairs.val.clusterDim.x = 2;
	pairs.val.clusterDim.y = pairs.val.clusterDim.z = 1;
	c.gridDim = grid;
	c.blockDim = block;
	c.dynamicSmemBytes = shared;
	c.stream = (cudaStream_t)queue;
	c.attrs = &pairs;
	c.numAttrs = 1;
	cudaLaunchKernelEx(&c, kernel, a...); /* hu_gpu_launched reports what went wrong */
}
#define HU_LAUNCH_PAIRS(kernel, grid, block, shared_bytes, queue, ...)                                                 \
	(hu_gpu_large(kernel, shared_bytes), hu_gpu_pairs(kernel, grid, block, shared_bytes, queue, __VA_ARGS__),      \
		hu_gpu_launched(#kernel))

#ifndef HU_ANY_ARCH
/* The compute capability, times ten, whose instructions the kernel was compiled to for this device. Files compiled once
   for all (Makefile.am) cannot ask. */
template <class K>
static inline int
hu_gpu_compiled_for(K *kernel)
{
	cudaFuncAttributes a;

	return cudaFuncGetAttributes(&a, kernel) == cudaSuccess ? a.ptxVersion : (cudaGetLastError(), 0);
}
#define HU_COMPILED_FOR(kernel) hu_gpu_compiled_for(kernel)
#endif

/* type name[n], one array per block; its contents are undefined at the start. */
#define HU_SHARED(type, name, n) __shared__ type name[n]
/* The same at a multiple of align bytes; on the host, of 64. */
#define HU_SHARED_ALIGNED(type, name, n, align) __shared__ __align__(align) type name[n]
/* As many bytes as the launch asked for, 16-byte aligned. */
#define HU_SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]

/* Either every thread of the block arrives, or none. */
#define HU_SYNC() __syncthreads()

/* Every lane of the warp takes part; blocks that call these consist of whole warps. */
template <class T> HU_DEVICE T hu_shfl(T x, unsigned lane) { return __shfl_sync(0xffffffffu, x, (int)lane); }
template <class T> HU_DEVICE T hu_shfl_down(T x, unsigned by) { return __shfl_down_sync(0xffffffffu, x, by); }
template <class T> HU_DEVICE T hu_shfl_xor(T x, unsigned mask) { return __shfl_xor_sync(0xffffffffu, x, (int)mask); }
HU_DEVICE uint32_t hu_ballot(int p) { return __ballot_sync(0xffffffffu, p); }
HU_DEVICE void hu_syncwarp(void) { __syncwarp(); }
HU_DEVICE uint32_t hu_bits_set(uint32_t x) { return (uint32_t)__popc(x); }

/* These are for integers alone, because the order of integer operations does not show in the result. Each returns the
   old value. */
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
#include "cuda/base/shim.h"
#endif

enum { HU_MOST_SHARED = 227 << 10 };

/* Loads or stores 16 or 8 bytes in one access; both addresses are aligned to that. */
#ifdef __CUDACC__
HU_DEVICE void
hu_load16(float *v, const float *from)
{
	float4 x = *(const float4 *)from;
	v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
}
HU_DEVICE void hu_store16(float *to, const float *v) { *(float4 *)to = make_float4(v[0], v[1], v[2], v[3]); }
HU_DEVICE void
hu_load8(uint16_t *v, const uint16_t *from)
{
	uint2 x = *(const uint2 *)from;

	v[0] = (uint16_t)x.x, v[1] = (uint16_t)(x.x >> 16), v[2] = (uint16_t)x.y, v[3] = (uint16_t)(x.y >> 16);
}

/* The same for 4, 8 or a multiple of 16 bytes, as words. */
template <int BYTES>
HU_DEVICE void
hu_load_words(uint32_t *w, const void *from)
{
	if constexpr (BYTES == 4) {
		w[0] = *(const uint32_t *)from;
	} else if constexpr (BYTES == 8) {
		uint2 x = *(const uint2 *)from;
		w[0] = x.x, w[1] = x.y;
	} else {
		HU_UNROLL
		for (int i = 0; i < BYTES / 16; i++) {
			uint4 x = ((const uint4 *)from)[i];
			w[4 * i] = x.x, w[4 * i + 1] = x.y, w[4 * i + 2] = x.z, w[4 * i + 3] = x.w;
		}
	}
}

template <int BYTES>
HU_DEVICE void
hu_store_words(void *to, const uint32_t *w)
{
	if constexpr (BYTES == 4) {
		*(uint32_t *)to = w[0];
	} else if constexpr (BYTES == 8) {
		*(uint2 *)to = make_uint2(w[0], w[1]);
	} else {
		HU_UNROLL
		for (int i = 0; i < BYTES / 16; i++)
			((uint4 *)to)[i] = make_uint4(w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]);
	}
}
#else
HU_DEVICE void hu_load16(float *v, const float *from) { HU_ASSERT((size_t)from % 16 == 0); memcpy(v, from, 16); }
HU_DEVICE void hu_store16(float *to, const float *v) { HU_ASSERT((size_t)to % 16 == 0); memcpy(to, v, 16); }
HU_DEVICE void hu_load8(uint16_t *v, const uint16_t *from) { HU_ASSERT((size_t)from % 8 == 0); memcpy(v, from, 8); }
template <int BYTES>
HU_DEVICE void
hu_load_words(uint32_t *w, const void *from)
{
	HU_ASSERT((size_t)from % (BYTES < 16 ? BYTES : 16) == 0);
	memcpy(w, from, BYTES);
}
template <int BYTES>
HU_DEVICE void
hu_store_words(void *to, const uint32_t *w)
{
	HU_ASSERT((size_t)to % (BYTES < 16 ? BYTES : 16) == 0);
	memcpy(to, w, BYTES);
}
#endif

/* HU_EDEVICE if no device runs that many blocks, or that many threads per block. */
static inline hu_status
hu_launch_fits(const char *kernel, dim3 grid, dim3 block)
{
	if (grid.x && grid.x <= 0x7fffffffu && grid.y && grid.y <= 65535 && grid.z && grid.z <= 65535 && block.x &&
		block.y && block.z && (size_t)block.x * block.y * block.z <= 1024)
		return HU_OK;
	return hu_fail(HU_EDEVICE, "kernel %s: no device runs %ux%ux%u blocks of %ux%ux%u threads", kernel, grid.x,
		grid.y, grid.z, block.x, block.y, block.z);
}

/* The number of blocks of this size for n items, at least one and at most most; kernels loop over the rest. */
static inline unsigned
hu_blocks_for(size_t n, size_t size, size_t most)
{
	size_t b = (n + size - 1) / size;

	return (unsigned)(b < 1 ? 1 : b > most ? most : b);
}
#endif
