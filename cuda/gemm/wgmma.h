/* SPDX-License-Identifier: Apache-2.0
   A warpgroup's product of 64 x 16 and 16 x 256 operands (fp8: 32 instead of 16) in shared memory, added to 64 x 256
   accumulators in the background (PTX wgmma.mma_async, sm_90a). On the host its model (lib/sum/tc.h) computes it at a
   random time between issue and wait. Operands are in rows of 128 bytes, with eight rows making 1024 bytes at a
   multiple of 1024; within a row the groups of 16 bytes are permuted by the row's number modulo 8 (the unit's 128-byte
   swizzle). */
#ifndef HU_CUDA_WGMMA_H
#define HU_CUDA_WGMMA_H

#include "cuda/gemm/mma.h"
#include "cuda/gemm/stage.h"

enum { HU_WGMMA_M = 64, HU_WGMMA_N = 256, HU_WGMMA_OUTPUTS = HU_WGMMA_M * HU_WGMMA_N / 128 };

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
/* Waits until all but the last N groups are done: their accumulators may be read and their operands overwritten. */
template <int N>
HU_DEVICE void
hu_wgmma_wait(hu_wgmmas *, float *d)
{
	(void)d;
#if HU_WGMMA_HERE
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
	HU_UNROLL
	for (int i = 0; i < HU_WGMMA_OUTPUTS; i++)
		asm volatile("" : "+f"(d[i])::"memory"); /* keeps the compiler from reading an accumulator earlier */
#endif
}

/* d += a b. KIND is one of hu_mma's kinds with 16 or 8 bits and fp32 accumulators. Thread t of the warpgroup holds,
   with w = t / 32, l = t % 32 and row w 16 + l / 4: d[4 j], d[4 j + 1] at column 8 j + 2 (l % 4) and the next; d[4 j +
   2], d[4 j + 3] at the same columns eight rows below. Every thread of the warpgroup calls it. */
template <int KIND, int A_ACROSS, int B_ACROSS>
HU_DEVICE void
hu_wgmma(hu_wgmmas *, float *d, hu_matrix a, hu_matrix b, hu_tc_arch)
{
#if HU_WGMMA_HERE
#define HU_WGMMA_OF(depth, types, turned, ...) \
	asm volatile("wgmma.mma_async.sync.aligned.m64n256" depth ".f32." types " {" \
		"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
		"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
		"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
		"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
		"%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
		"%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
		"%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
		"%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127" \
		"}, %128, %129, 1, 1, 1" turned ";" \
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
		  "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), \
		  "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
		  "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), \
		  "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
		  "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), \
		  "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
		  "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), \
		  "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
		  "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), \
		  "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), \
		  "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), \
		  "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), \
		  "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), \
		  "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), \
		  "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127]) \
		: "l"(a), "l"(b), ##__VA_ARGS__)
	if (KIND == HU_MMA_F16)
		HU_WGMMA_OF("k16", "f16.f16", ", %130, %131", "n"(A_ACROSS), "n"(B_ACROSS));
	else if (KIND == HU_MMA_BF16)
		HU_WGMMA_OF("k16", "bf16.bf16", ", %130, %131", "n"(A_ACROSS), "n"(B_ACROSS));
	else if (KIND == HU_MMA_E4M3)
		HU_WGMMA_OF("k32", "e4m3.e4m3", "");
	else if (KIND == HU_MMA_E5M2)
		HU_WGMMA_OF("k32", "e5m2.e5m2", "");
	else if (KIND == HU_MMA_E4M3_E5M2)
		HU_WGMMA_OF("k32", "e4m3.e5m2", "");
	else
		HU_WGMMA_OF("k32", "e5m2.e4m3", "");
#undef HU_WGMMA_OF
#else
	(void)a, (void)b;
	d[0] = hu_from_bits32(0x7fc00000u); /* never launched except on sm_90a */
#endif
}

#else
#define HU_WGMMA_HERE 1
typedef struct hu_matrix { const unsigned char *at; uint32_t far, beside; } hu_matrix;

struct hu_wgmmas {
	struct { hu_matrix a, b; int kind, across_a, across_b, arch; unsigned group; } under_way[16];
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
	hu_wgmmas *c, float *d, int kind, int across_a, int across_b, hu_matrix a, hu_matrix b, hu_tc_arch arch);
void hu_shim_wgmma_wait(hu_wgmmas *c, float *d, unsigned groups);
}

HU_DEVICE void hu_wgmma_publish(void) {}
HU_DEVICE void hu_wgmma_fence(void) {}
HU_DEVICE void hu_wgmma_commit(hu_wgmmas *c) { c->group++; }
template <int N> HU_DEVICE void hu_wgmma_wait(hu_wgmmas *c, float *d) { hu_shim_wgmma_wait(c, d, N); }
template <int KIND, int A_ACROSS, int B_ACROSS>
HU_DEVICE void
hu_wgmma(hu_wgmmas *c, float *d, hu_matrix a, hu_matrix b, hu_tc_arch arch)
{
	hu_shim_wgmma(c, d, KIND, A_ACROSS, B_ACROSS, a, b, arch);
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
