/* SPDX-License-Identifier: Apache-2.0
   One warp's product of 16 x K and K x 8 operands, added to 16 x 8 accumulators, by the matrix unit (PTX mma.sync,
   sm_80 and later) or, on the host, by its model (lib/sum/tc/tc.h). Operands are 32-bit words: two 16-bit codes, four
   fp8 codes (sm_89 and later), or one fp32 word of which a tf32 operand uses the upper 19 bits. */
#ifndef HU_CUDA_MMA_H
#define HU_CUDA_MMA_H

#include "cuda/base/launch.h"

#ifdef HU_ANY_ARCH
#error "this header has code of its own for compute capabilities: add the file that includes it to CUDA_ALONE"
#endif

extern "C" {
#include "lib/sum/tc/tc.h"
}

/* Kinds of operands; fp8's, from HU_MMA_E4M3 on, may be of two formats, a's and then b's. With HU_MMA_F16_F16 the
   accumulators are fp16's values. */
enum {
	HU_MMA_F16,
	HU_MMA_F16_F16,
	HU_MMA_BF16,
	HU_MMA_TF32,
	HU_MMA_E4M3,
	HU_MMA_E5M2,
	HU_MMA_E4M3_E5M2,
	HU_MMA_E5M2_E4M3,
	HU_MMA_KINDS
};

/* The formats of a kind's operands a (column 0) and b (1). */
static inline hu_format_id
hu_mma_format(int kind, int column)
{
	static const hu_format_id of[HU_MMA_KINDS][2] = { { HU_FP16, HU_FP16 }, { HU_FP16, HU_FP16 },
		{ HU_BF16, HU_BF16 },
		{ HU_TF32, HU_TF32 }, { HU_E4M3, HU_E4M3 }, { HU_E5M2, HU_E5M2 }, { HU_E4M3, HU_E5M2 },
		{ HU_E5M2, HU_E4M3 } };

	return of[kind][column];
}

/* The number of k values in a word. A whole product has 8 words, a half has 4. */
HU_HD uint32_t hu_mma_values(int kind) { return kind == HU_MMA_TF32 ? 1 : kind >= HU_MMA_E4M3 ? 4 : 2; }

/* d += a b. Lane l holds, with g = l / 4 and t = l % 4: words t and t + 4 of row g (a[0], a[2]) and of row g + 8 (a[1],
   a[3]); words t and t + 4 of column g (b[0], b[1]); accumulators (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1). half:
   only words 0 to 3, never for fp8; a[2], a[3] and b[1] are ignored. Every lane calls it. arch says whose model the
   host computes. */
#ifdef __CUDACC__
HU_DEVICE void
hu_mma(int kind, int half, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch)
{
	(void)arch;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HU_MMA_MIXED(shape, in, in2, ...) \
	asm volatile("mma.sync.aligned." shape ".row.col.f32." in "." in2 ".f32 {%0,%1,%2,%3}, " __VA_ARGS__)
#define HU_MMA_F32(shape, in, ...) HU_MMA_MIXED(shape, in, in, __VA_ARGS__)
	if (kind == HU_MMA_F16 && !half)
		HU_MMA_F32("m16n8k16", "f16", "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else if (kind == HU_MMA_F16)
		HU_MMA_F32("m16n8k8", "f16", "{%4,%5}, {%6}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(b[0]));
	else if (kind == HU_MMA_BF16 && !half)
		HU_MMA_F32("m16n8k16", "bf16", "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else if (kind == HU_MMA_BF16)
		HU_MMA_F32("m16n8k8", "bf16", "{%4,%5}, {%6}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(b[0]));
	else if (kind == HU_MMA_TF32 && !half)
		HU_MMA_F32("m16n8k8", "tf32", "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else if (kind == HU_MMA_TF32)
		HU_MMA_F32("m16n8k4", "tf32", "{%4,%5}, {%6}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#if __CUDA_ARCH__ >= 890
	else if (kind == HU_MMA_E4M3)
		HU_MMA_F32("m16n8k32", "e4m3", "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else if (kind == HU_MMA_E5M2)
		HU_MMA_F32("m16n8k32", "e5m2", "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else if (kind == HU_MMA_E4M3_E5M2)
		HU_MMA_MIXED("m16n8k32", "e4m3", "e5m2", "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else if (kind == HU_MMA_E5M2_E4M3)
		HU_MMA_MIXED("m16n8k32", "e5m2", "e4m3", "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
	else {
		uint32_t c0, c1; /* fp16's values, two in a register: exact both ways */
		asm("{.reg .b16 x, y; cvt.rn.f16.f32 x, %1; cvt.rn.f16.f32 y, %2; mov.b32 %0, {x, y};}"
			: "=r"(c0)
			: "f"(d[0]), "f"(d[1]));
		asm("{.reg .b16 x, y; cvt.rn.f16.f32 x, %1; cvt.rn.f16.f32 y, %2; mov.b32 %0, {x, y};}"
			: "=r"(c1)
			: "f"(d[2]), "f"(d[3]));
		if (half)
			asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
				     : "+r"(c0), "+r"(c1)
				     : "r"(a[0]), "r"(a[1]), "r"(b[0]));
		else
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, "
				     "{%6,%7}, {%0,%1};"
				     : "+r"(c0), "+r"(c1)
				     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
		asm("{.reg .b16 x, y; mov.b32 {x, y}, %2; cvt.f32.f16 %0, x; cvt.f32.f16 %1, y;}"
			: "=f"(d[0]), "=f"(d[1])
			: "r"(c0));
		asm("{.reg .b16 x, y; mov.b32 {x, y}, %2; cvt.f32.f16 %0, x; cvt.f32.f16 %1, y;}"
			: "=f"(d[2]), "=f"(d[3])
			: "r"(c1));
	}
#undef HU_MMA_F32
#undef HU_MMA_MIXED
#else
	(void)kind, (void)half, (void)a, (void)b;
	d[0] = d[1] = d[2] = d[3] = hu_from_bits32(0x7fc00000u); /* never launched below sm_80 */
#endif
}
#else
/* shim_mma.cc */
extern "C" void hu_shim_mma(int kind, int half, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch,
	const char *file, int line);

HU_DEVICE void
hu_mma(int kind, int half, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch, HU_SHIM_AT)
{
	hu_shim_mma(kind, half, d, a, b, arch, file, line);
}
#endif
#endif
