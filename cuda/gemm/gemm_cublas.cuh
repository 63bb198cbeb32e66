/* SPDX-License-Identifier: Apache-2.0
   The product through cuBLASLt (cublas.h). Operands that are stored as matrices are read in place; a convolution's are
   gathered into scratch space, some rows at a time so that the space is bounded, but enough of them that their tiles
   occupy a large GPU. fp8 operands are gathered unless both
   are contiguous along k in multiples of 16, as the library requires. */
#ifndef HU_CUDA_GEMM_CUBLAS_CUH
#define HU_CUDA_GEMM_CUBLAS_CUH

#include "cuda/cublas/cublas.h"
#include "cuda/gemm/gemm.cuh"

/* How a map's operand is stored: not as a matrix; as [m,k] or [n,k]; as [k,m] or [k,n]. */
enum { HU_LIES_SCATTERED, HU_LIES_ALONG_K, HU_LIES_ACROSS_K };

/* Defined in gemm_cublas.cu: */
extern "C" {
/* Sets the formats and tf32 of *p. HU_EUNABLE names a call that the library does not compute as its model says, and
   what to do instead. */
hu_status HU_SIDE(cublas_product)(hu_work *w, const hu_gemm *g, hu_cublas_product *p);
/* Computes one product of the sizes and formats in *at. a, b and d point to its first elements. */
hu_status HU_SIDE(cublas_go)(hu_work *w, const hu_cublas_product *at, const void *a, const void *b, void *d, int say);
/* Computes outputs from the sums at d, whose rows are ld apart and whose products follow each other. */
hu_status HU_SIDE(cublas_store)(hu_work *w, const hu_gemm *g, const void *d, uint32_t ld, hu_format_id f);
}

/* Copies the code of element at from an operand of elements of this many bytes to place i. */
HU_DEVICE void
hu_gather_code(void *to, uint32_t i, const void *from, uint32_t at, uint32_t bytes)
{
	switch (bytes) {
	case 1: ((uint8_t *)to)[i] = at == HU_OUTSIDE ? 0 : ((const uint8_t *)from)[at]; break;
	case 2: ((uint16_t *)to)[i] = at == HU_OUTSIDE ? 0 : ((const uint16_t *)from)[at]; break;
	case 4: ((uint32_t *)to)[i] = at == HU_OUTSIDE ? 0 : ((const uint32_t *)from)[at]; break;
	default: /* 8 */
		((uint64_t *)to)[i] = at == HU_OUTSIDE ? 0 : ((const uint64_t *)from)[at]; break;
	}
}

/* Copies 16 bytes of codes from element at of an operand to byte i. */
HU_DEVICE void
hu_gather_group(void *to, size_t i, const void *from, uint32_t at, uint32_t bytes)
{
	uint32_t w[4] = { 0, 0, 0, 0 };

	if (at != HU_OUTSIDE)
		hu_load_words<16>(w, (const unsigned char *)from + (size_t)at * bytes);
	hu_store_words<16>((unsigned char *)to + i, w);
}

/* Gathers n rows of A (if of_b is set, columns of B) from the first on, k values each in a row of ld elements, with +0
   behind them and in rows past the end; group elements at a time, which are 1 or 16 bytes along k, all inside or all
   outside. across divides by the groups of a row. */
template <class M>
HU_KERNEL
hu_codes_kernel(HU_PARAM hu_gemm g, int of_b, void *to, uint32_t bytes, uint32_t first, uint32_t n, uint32_t group,
	hu_divisor across)
{
	const void *from = of_b ? g.b.data : g.a.data;
	uint32_t rows = of_b ? g.n : g.m;

	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n * across.by; i += gridDim.x * blockDim.x) {
		uint32_t row = hu_quotient(i, across), r = first + row, k = (i - row * across.by) * group;
		uint32_t at = k >= g.k || r >= rows ? HU_OUTSIDE : of_b ? M::b(&g, k, r) : M::a(&g, r, k);
		if (group > 1)
			hu_gather_group(to, (size_t)i * 16, from, at, bytes);
		else
			hu_gather_code(to, i, from, at, bytes);
	}
}

template <class M>
static hu_status
hu_codes_go(hu_work *w, const hu_gemm *g, int of_b, void *to, uint32_t bytes, uint32_t first, uint32_t n, uint32_t ld)
{
	uint32_t s = 16 / bytes;
	const void *from = of_b ? g->b.data : g->a.data;
	int groups = of_b ? M::b_along_k(g) && M::b_groups(g, s) : M::a_along_k(g) && M::a_groups(g, s);
	uint32_t group = groups && ld % s == 0 && hu_aligned(from) ? s : 1;

	return HU_GO(w, hu_codes_kernel<M>, hu_blocks_for((size_t)n * ld / group, 256, 65535), 256, 0, *g, of_b, to,
		bytes,
		first, n, group, hu_divisor_of(ld / group));
}

/* Which operands are gathered first: 1 a, 2 b, 3 both, 0 neither. */
template <class M>
static int
hu_cublas_gathers(const hu_gemm *g, int fp8)
{
	int a = M::a_lies(g), b = M::b_lies(g);

	return fp8 ? (a != HU_LIES_ALONG_K || g->k % 16) |
				(b != HU_LIES_ALONG_K || g->k % 16 || g->n % 16) << 1
		   : (a == HU_LIES_SCATTERED) | (b == HU_LIES_SCATTERED) << 1;
}

/* Several products (g->batches) are one call of the library, and nothing is gathered. */
template <class M>
static hu_status
hu_gemm_cublas(hu_work *w, const hu_gemm *g)
{
#ifdef __CUDACC__
	enum { ROOM = 256 << 20 };
#else
	enum { ROOM = 64 << 20 }; /* so that tests reach it */
#endif
	hu_cublas_product p;

	HU_TRY(HU_SIDE(cublas_product)(w, g, &p));
	int fp8 = hu_format_of(p.fa).bits == 8, a_lies = M::a_lies(g), b_lies = M::b_lies(g);
	int gathers = hu_cublas_gathers<M>(g, fp8), own_a = gathers & 1, own_b = gathers >> 1;
	uint32_t bytes = (uint32_t)hu_slot_size(w->in[0]->format), step = fp8 ? 16 : bytes == 8 ? 2 : 16 / bytes;
	uint32_t deep = (g->k + step - 1) / step * step, wide = fp8 ? (g->n + 15) / 16 * 16 : g->n, rows = g->m;
	size_t batches = g->batches > 1 ? g->batches : 1;
	void *a = (void *)(size_t)g->a.data, *b = (void *)(size_t)g->b.data, *d;
	hu_format_id f = p.fd;
	size_t each = hu_slot_size(f);

	if (own_a) {
		size_t most = ROOM / ((size_t)deep * bytes) / 128 * 128;
		rows = most < 128 ? 128 : (uint32_t)most;
		rows = rows < g->m ? rows : g->m;
		a = hu_work_take(w, (size_t)rows * deep * bytes);
	}
	if (own_b) {
		if ((size_t)wide * deep > HU_MOST_ELEMENTS)
			return hu_fail(HU_EUNABLE,
				"gemm=cublas: a gathered operand has %u x %u elements, more than 2^31 (call %d): use "
				"gemm=mma or simt",
				wide, deep, w->call->id);
		b = hu_work_take(w, (size_t)wide * deep * bytes);
		HU_TRY(hu_codes_go<M>(w, g, 1, b, bytes, 0, wide, deep));
	}
	int straight = !g->placed && f == w->out[0]->format && !g->raw.n && !g->sa.data && wide == g->n &&
		       w->call->flags == 0;
	if (straight) {
		d = (unsigned char *)w->out[0]->data + g->first * each;
	} else {
		f = p.fd = p.fa == HU_FP64 ? HU_FP64 : HU_FP32;
		each = hu_slot_size(f);
		d = hu_work_take(w, batches * g->m * wide * each);
	}
	p.n = wide;
	p.k = own_a || own_b || fp8 ? deep : g->k;
	if (own_a != own_b && p.k != g->k)
		p.k = g->k; /* only one operand is padded, and the other has nothing there to read */
	p.ta = !own_a && a_lies == HU_LIES_ACROSS_K;
	p.tb = own_b || b_lies == HU_LIES_ALONG_K;
	p.lda = own_a ? deep : p.ta ? g->m : g->k;
	p.ldb = own_b ? deep : p.tb ? g->k : g->n;
	p.ldd = wide;
	if (batches > 1) {
		p.batches = g->batches;
		p.step_a = g->step_a;
		p.step_b = g->step_b;
		p.step_d = g->m * wide;
	}
	for (uint32_t first = 0; first < g->m; first += rows) {
		p.m = g->m - first < rows ? g->m - first : rows;
		if (own_a)
			HU_TRY(hu_codes_go<M>(w, g, 0, a, bytes, first, p.m, deep));
		HU_TRY(HU_SIDE(cublas_go)(w, &p, a, b, (unsigned char *)d + (size_t)first * wide * each, first == 0));
	}
	return straight ? HU_OK : HU_SIDE(cublas_store)(w, g, d, wide, f);
}
#endif
