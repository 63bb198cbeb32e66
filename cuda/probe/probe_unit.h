/* SPDX-License-Identifier: Apache-2.0
   Matrix instructions that only probes run: fp8 by mma.sync (sm_89), and a warpgroup's 64 x 8 sums by wgmma (sm_90a),
   with unswizzled operands in shared memory. On the host their models answer (shim_probe.cc). The kinds are probe.h's;
   a device for which the build has no such code answers HU_PROBE_NO_CODE. */
#ifndef HU_CUDA_PROBE_UNIT_H
#define HU_CUDA_PROBE_UNIT_H

#include "cuda/gemm/mma.h"
#include "cuda/probe/probe.h"

static_assert((int)HU_PROBE_F16 == HU_MMA_F16 && (int)HU_PROBE_F16_F16 == HU_MMA_F16_F16 &&
		      (int)HU_PROBE_BF16 == HU_MMA_BF16 && (int)HU_PROBE_TF32 == HU_MMA_TF32 &&
		      (int)HU_PROBE_E4M3 > HU_MMA_KINDS,
	"probe.h has mma.h's numbers");

/* The shared memory of a warpgroup's operands: rows of 32 bytes in pieces of 8 rows by 16 bytes, 128 bytes each, the
   two pieces of a row next to each other; 64 rows of A, then 8 columns of B. */
enum { HU_PROBE_W_A = 64 * 32, HU_PROBE_W_BYTES = HU_PROBE_W_A + 8 * 32 };

HU_HD uint32_t
hu_probe_place(uint32_t row, uint32_t word)
{
	return row / 8 * 256 + word / 4 * 128 + row % 8 * 16 + word % 4 * 4;
}

/* Returns 1 if a kind's accumulators are fp16. */
HU_HD int
hu_probe_half_out(int kind)
{
	return kind == HU_PROBE_E4M3_F16 || kind == HU_PROBE_E5M2_F16 || kind == HU_PROBE_W_F16_F16 ||
	       kind == HU_PROBE_W_E4M3_F16 || kind == HU_PROBE_W_E5M2_F16;
}

#ifdef __CUDACC__
HU_DEVICE uint32_t
hu_probe_pack(float x, float y)
{
	uint32_t u;

	asm("{.reg .b16 x, y; cvt.rn.f16.f32 x, %1; cvt.rn.f16.f32 y, %2; mov.b32 %0, {x, y};}"
		: "=r"(u)
		: "f"(x), "f"(y));
	return u;
}

HU_DEVICE void
hu_probe_unpack(float *d, uint32_t u)
{
	asm("{.reg .b16 x, y; mov.b32 {x, y}, %2; cvt.f32.f16 %0, x; cvt.f32.f16 %1, y;}"
		: "=f"(d[0]), "=f"(d[1])
		: "r"(u));
}

/* As hu_mma, with four values in a word: m16n8k32. */
template <int KIND>
HU_DEVICE void
hu_probe_mma(float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define HU_PROBE_F32(in)                                                                                               \
	asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." in "." in                                                \
		     ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                      \
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define HU_PROBE_F16(in) \
	asm volatile("mma.sync.aligned.m16n8k32.row.col.f16." in "." in \
		".f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" \
	             : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
	if (KIND == HU_PROBE_E4M3)
		HU_PROBE_F32("e4m3");
	else if (KIND == HU_PROBE_E5M2)
		HU_PROBE_F32("e5m2");
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8)
	else {
		uint32_t c[2] = { hu_probe_pack(d[0], d[1]), hu_probe_pack(d[2], d[3]) };
		if (KIND == HU_PROBE_E4M3_F16)
			HU_PROBE_F16("e4m3");
		else
			HU_PROBE_F16("e5m2");
		hu_probe_unpack(d, c[0]);
		hu_probe_unpack(d + 2, c[1]);
	}
#else
	else
		d[0] = hu_from_bits32(HU_PROBE_NO_CODE);
#endif
#undef HU_PROBE_F32
#undef HU_PROBE_F16
#else
	(void)a, (void)b;
	d[0] = hu_from_bits32(HU_PROBE_NO_CODE);
#endif
}

/* Computes d += a b by the warpgroup and waits for it. Thread t has the part of lane t % 32 in hu_mma, for the rows
   from t / 32 * 16 on. */
template <int KIND>
HU_DEVICE void
hu_probe_wgmma(float *d, const unsigned char *shared, hu_tc_arch)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
	uint32_t at = (uint32_t)__cvta_generic_to_shared(shared);
	/* The pieces are 128 bytes apart along k, and 256 to the next eight rows. */
	uint64_t form = (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32, a = form | (at >> 4 & 0x3fff),
		 b = form | ((at + HU_PROBE_W_A) >> 4 & 0x3fff);

	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	HU_SYNC();
#define HU_PROBE_BEGIN()                                                                                               \
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory") /* the accumulators are in their registers */
#define HU_PROBE_F32(shape, in, more)                                                                                  \
	asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." in "." in " {%0,%1,%2,%3}, %4, %5, 1, 1, 1" more    \
		     ";"                                                                                               \
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
		     : "l"(a), "l"(b)                                                                                  \
		     : "memory")
#define HU_PROBE_F16(shape, in, more)                                                                                  \
	asm volatile("wgmma.mma_async.sync.aligned." shape ".f16." in "." in " {%0,%1}, %2, %3, 1, 1, 1" more ";"      \
		     : "+r"(c[0]), "+r"(c[1])                                                                          \
		     : "l"(a), "l"(b)                                                                                  \
		     : "memory")
#define HU_PROBE_DONE()                                                                                                \
	asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory")
	if (hu_probe_half_out(KIND)) {
		uint32_t c[2] = { hu_probe_pack(d[0], d[1]), hu_probe_pack(d[2], d[3]) };
		HU_PROBE_BEGIN();
		if (KIND == HU_PROBE_W_F16_F16)
			HU_PROBE_F16("m64n8k16", "f16", ", 0, 0");
		else if (KIND == HU_PROBE_W_E4M3_F16)
			HU_PROBE_F16("m64n8k32", "e4m3", "");
		else
			HU_PROBE_F16("m64n8k32", "e5m2", "");
		HU_PROBE_DONE();
		asm volatile("" : "+r"(c[0]), "+r"(c[1])::"memory");
		hu_probe_unpack(d, c[0]);
		hu_probe_unpack(d + 2, c[1]);
		return;
	}
	HU_PROBE_BEGIN();
	if (KIND == HU_PROBE_W_F16)
		HU_PROBE_F32("m64n8k16", "f16", ", 0, 0");
	else if (KIND == HU_PROBE_W_BF16)
		HU_PROBE_F32("m64n8k16", "bf16", ", 0, 0");
	else if (KIND == HU_PROBE_W_TF32)
		HU_PROBE_F32("m64n8k8", "tf32", "");
	else if (KIND == HU_PROBE_W_E4M3)
		HU_PROBE_F32("m64n8k32", "e4m3", "");
	else
		HU_PROBE_F32("m64n8k32", "e5m2", "");
	HU_PROBE_DONE();
	asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
#undef HU_PROBE_F32
#undef HU_PROBE_F16
#undef HU_PROBE_BEGIN
#undef HU_PROBE_DONE
#else
	(void)shared;
	d[0] = hu_from_bits32(HU_PROBE_NO_CODE);
#endif
}

#else
extern "C" {
void hu_shim_probe_mma(
	int kind, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch, const char *file, int line);
void hu_shim_probe_wgmma(int kind, float *d, const unsigned char *shared, hu_tc_arch arch);
}

template <int KIND>
HU_DEVICE void
hu_probe_mma(float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch, HU_SHIM_AT)
{
	hu_shim_probe_mma(KIND, d, a, b, arch, file, line);
}

template <int KIND>
HU_DEVICE void
hu_probe_wgmma(float *d, const unsigned char *shared, hu_tc_arch arch)
{
	HU_SYNC();
	hu_shim_probe_wgmma(KIND, d, shared, arch);
}
#endif
#endif
