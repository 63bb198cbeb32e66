/* SPDX-License-Identifier: Apache-2.0
   A warpgroup's product of 64 x 16 and 16 x N operands (fp8: 32 instead of 16; N is 64, 128 or 256) in shared
   memory, added to 64 x N accumulators in the background (PTX wgmma.mma_async, sm_90a). On the host its model
   (lib/sum/tc/tc.h) computes it at a random time between issue and wait. Operands are in rows of 128 bytes, with eight
   rows making 1024 bytes at a multiple of 1024; within a row the groups of 16 bytes are permuted by the row's number
   modulo 8 (the unit's 128-byte swizzle). */
#ifndef HU_CUDA_WGMMA_H
#define HU_CUDA_WGMMA_H

#include "cuda/gemm/mma.h"
#include "cuda/gemm/stage.h"

enum { HU_WGMMA_M = 64 };
/* A thread's accumulators. */
#define HU_WGMMA_OUTPUTS(n) (HU_WGMMA_M * (n) / 128)

/* With A_ACROSS or B_ACROSS 0 a row holds 64 (fp8: 128) values of k of one output row or column, and each 8 such rows
   are beside bytes from the next 8. With 1, which fp8 does not support, a row holds one k of 64 outputs; the next 8
   values of k are beside bytes away, the next 64 outputs far bytes. */
#ifdef __CUDACC__
typedef uint64_t hu_matrix;

struct hu_wgmmas {};

HU_DEVICE hu_matrix
hu_matrix_at(const void *p, uint32_t far, uint32_t beside)
{
	return (hu_matrix)(hu_shared_address(p) >> 4 & 0x3fff) | (hu_matrix)(far >> 4) << 16 |
	       (hu_matrix)(beside >> 4) << 32 | (hu_matrix)1 << 62;
}

HU_DEVICE hu_matrix hu_matrix_move(hu_matrix m, uint32_t bytes) { return m + (bytes >> 4); }

/* HU_WGMMA_HERE is 1 if this compiler pass is for a device that has the unit. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HU_WGMMA_HERE 1
#define HU_WGMMA_ASM(x) asm volatile(x ::: "memory")
#else
#define HU_WGMMA_HERE 0
#define HU_WGMMA_ASM(x) (void)0
#endif
/* Makes what this thread copied to shared memory visible to the unit; a barrier then tells the others. */
HU_DEVICE void hu_wgmma_publish(void) { HU_WGMMA_ASM("fence.proxy.async.shared::cta;"); }
/* To be called before the first product of a group, when the accumulators are complete. */
HU_DEVICE void hu_wgmma_fence(void) { HU_WGMMA_ASM("wgmma.fence.sync.aligned;"); }
HU_DEVICE void hu_wgmma_commit(hu_wgmmas *) { HU_WGMMA_ASM("wgmma.commit_group.sync.aligned;"); }
/* Waits until all but the last LEFT groups are done: their accumulators may be read and their operands overwritten. */
template <int LEFT, int N>
HU_DEVICE void
hu_wgmma_wait(hu_wgmmas *, float *d)
{
	(void)d;
#if HU_WGMMA_HERE
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
	HU_UNROLL
	for (int i = 0; i < HU_WGMMA_OUTPUTS(N); i++)
		asm volatile("" : "+f"(d[i])::"memory"); /* keeps the compiler from reading an accumulator earlier */
#endif
}

/* The names of the first 32, 64 and 128 operands of an instruction, and the accumulators that they are. */
#define HU_WGMMA_D64 \
	"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
	"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HU_WGMMA_D128 \
	HU_WGMMA_D64 ", " \
	"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
	"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HU_WGMMA_D256 \
	HU_WGMMA_D128 ", " \
	"%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
	"%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
	"%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
	"%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HU_WGMMA_8(i) \
	"+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3]), "+f"(d[(i) + 4]), "+f"(d[(i) + 5]), \
		"+f"(d[(i) + 6]), "+f"(d[(i) + 7])
#define HU_WGMMA_32(i) HU_WGMMA_8(i), HU_WGMMA_8((i) + 8), HU_WGMMA_8((i) + 16), HU_WGMMA_8((i) + 24)
#define HU_WGMMA_R64 HU_WGMMA_32(0)
#define HU_WGMMA_R128 HU_WGMMA_32(0), HU_WGMMA_32(32)
#define HU_WGMMA_R256 HU_WGMMA_32(0), HU_WGMMA_32(32), HU_WGMMA_32(64), HU_WGMMA_32(96)
/* One instruction; a, b, ta and tb are the names of its other operands. */
#define HU_WGMMA_OF(n, depth, types, ab, turned, ...) \
	asm volatile("wgmma.mma_async.sync.aligned.m64n" #n depth ".f32." types " {" HU_WGMMA_D##n "}, " ab ", 1, 1, 1"\
		turned ";" : HU_WGMMA_R##n : "l"(a), "l"(b), ##__VA_ARGS__)
#define HU_WGMMA_BY(n, ab, turned) \
	do { \
		if (KIND == HU_MMA_F16) \
			HU_WGMMA_OF(n, "k16", "f16.f16", ab, turned, "n"(A_ACROSS), "n"(B_ACROSS)); \
		else if (KIND == HU_MMA_BF16) \
			HU_WGMMA_OF(n, "k16", "bf16.bf16", ab, turned, "n"(A_ACROSS), "n"(B_ACROSS)); \
		else if (KIND == HU_MMA_TF32) \
			HU_WGMMA_OF(n, "k8", "tf32.tf32", ab, ""); \
		else if (KIND == HU_MMA_E4M3) \
			HU_WGMMA_OF(n, "k32", "e4m3.e4m3", ab, ""); \
		else if (KIND == HU_MMA_E5M2) \
			HU_WGMMA_OF(n, "k32", "e5m2.e5m2", ab, ""); \
		else if (KIND == HU_MMA_E4M3_E5M2) \
			HU_WGMMA_OF(n, "k32", "e4m3.e5m2", ab, ""); \
		else \
			HU_WGMMA_OF(n, "k32", "e5m2.e4m3", ab, ""); \
	} while (0)

/* d += a b. KIND is one of hu_mma's kinds with fp32 accumulators; tf32, like fp8, is stored along k alone. Thread t of
   the warpgroup holds, with w = t / 32, l = t % 32 and row w 16 + l / 4: d[4 j], d[4 j + 1] at column 8 j + 2 (l % 4)
   and the next; d[4 j + 2], d[4 j + 3] at the same columns eight rows below. Every thread of the warpgroup calls it. */
template <int N, int KIND, int A_ACROSS, int B_ACROSS>
HU_DEVICE void
hu_wgmma(hu_wgmmas *, float *d, hu_matrix a, hu_matrix b, hu_tc_arch)
{
#if HU_WGMMA_HERE
	if constexpr (N == 64)
		HU_WGMMA_BY(64, "%32, %33", ", %34, %35");
	else if constexpr (N == 128)
		HU_WGMMA_BY(128, "%64, %65", ", %66, %67");
	else
		HU_WGMMA_BY(256, "%128, %129", ", %130, %131");
#else
	(void)a, (void)b;
	d[0] = hu_from_bits32(0x7fc00000u); /* never launched except on sm_90a */
#endif
}

#else
#define HU_WGMMA_HERE 1
typedef struct hu_matrix { const unsigned char *at; uint32_t far, beside; } hu_matrix;

struct hu_wgmmas {
	struct { hu_matrix a, b; int n, kind, across_a, across_b, arch; unsigned group; } under_way[16];
	unsigned n, group;
};

HU_DEVICE hu_matrix
hu_matrix_at(const void *p, uint32_t far, uint32_t beside)
{
	hu_matrix m = { (const unsigned char *)p, far, beside };

	return m;
}

HU_DEVICE hu_matrix
hu_matrix_move(hu_matrix m, uint32_t bytes)
{
	m.at += bytes;
	return m;
}

/* shim_wgmma.cc */
extern "C" {
void hu_shim_wgmma(
	hu_wgmmas *c, float *d, int n, int kind, int across_a, int across_b, hu_matrix a, hu_matrix b, hu_tc_arch arch);
void hu_shim_wgmma_wait(hu_wgmmas *c, float *d, unsigned groups);
}

HU_DEVICE void hu_wgmma_publish(void) {}
HU_DEVICE void hu_wgmma_fence(void) {}
HU_DEVICE void hu_wgmma_commit(hu_wgmmas *c) { c->group++; }
template <int LEFT, int N> HU_DEVICE void hu_wgmma_wait(hu_wgmmas *c, float *d) { hu_shim_wgmma_wait(c, d, LEFT); }
template <int N, int KIND, int A_ACROSS, int B_ACROSS>
HU_DEVICE void
hu_wgmma(hu_wgmmas *c, float *d, hu_matrix a, hu_matrix b, hu_tc_arch arch)
{
	hu_shim_wgmma(c, d, N, KIND, A_ACROSS, B_ACROSS, a, b, arch);
}
#endif

HU_DEVICE void
hu_wgmmas_begin(hu_wgmmas *c)
{
#ifndef __CUDACC__
	c->n = c->group = 0;
#else
	(void)c;
#endif
}
#endif
