/* SPDX-License-Identifier: Apache-2.0
   The product on the matrix units, for the summation models of these units (tc:ARCH); it gives the bits of the model. A
   block of 8 warps computes 64 x 64 outputs of one part, a warp 16 x 32. Operands are staged through shared memory, 16
   words of k (mma.h) at a time, which for fp16 and bf16 are 32 values. k ascends, and a part's tail is filled with +0
   up to a block of the unit. */
#ifndef HU_CUDA_GEMM_MMA_CUH
#define HU_CUDA_GEMM_MMA_CUH

#include "cuda/gemm/gemm_split.cuh"
#include "cuda/gemm/gemm_mma_wide.cuh"

enum { HU_MMA_TILE = 64, HU_MMA_WORDS = 16, HU_MMA_LINE = HU_MMA_WORDS + 4, HU_MMA_THREADS = 256 };

/* Element at of an operand, as a part of a word. */
HU_DEVICE uint32_t
hu_mma_load(int kind, const hu_store_operand *o, uint32_t at)
{
	if (at == HU_OUTSIDE)
		return 0;
	return kind == HU_MMA_TF32   ? hu_bits32(((const float *)o->data)[at])
	       : kind >= HU_MMA_E4M3 ? ((const uint8_t *)o->data)[at]
				     : ((const uint16_t *)o->data)[at];
}

template <class M>
HU_KERNEL_OF(HU_MMA_THREADS)
hu_mma_kernel(HU_PARAM hu_gemm g, int kind, float *sums)
{
	HU_SHARED(uint32_t, sa, HU_MMA_TILE * HU_MMA_LINE);
	HU_SHARED(uint32_t, sb, HU_MMA_TILE * HU_MMA_LINE);
	hu_gemm_tile_at here = hu_gemm_tile_here(&g, HU_MMA_TILE, HU_MMA_TILE);
	uint32_t m0 = here.m0, n0 = here.n0, p = here.part, values = hu_mma_values(kind);
	uint32_t first = p * g.part, end = g.k - first > g.part ? first + g.part : g.k;
	uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, r = lane / 4, t = lane % 4, row = warp % 4 * 16,
		 col = warp / 4 * 32;
	float d[4][4];

	HU_UNROLL
	for (int j = 0; j < 4; j++)
		HU_UNROLL
		for (int i = 0; i < 4; i++)
			d[j][i] = 0;
	HU_ONCE
	for (uint32_t k0 = first; k0 < end; k0 += HU_MMA_WORDS * values) {
		HU_SYNC();
		HU_ONCE
		for (uint32_t i = threadIdx.x; i < HU_MMA_TILE * HU_MMA_WORDS; i += HU_MMA_THREADS) {
			/* neighbouring threads read neighbouring elements */
			uint32_t wa = M::a_along_k(&g) ? i % HU_MMA_WORDS : i / HU_MMA_TILE,
				 ra = M::a_along_k(&g) ? i / HU_MMA_WORDS : i % HU_MMA_TILE;
			uint32_t wb = M::b_along_k(&g) ? i % HU_MMA_WORDS : i / HU_MMA_TILE,
				 cb = M::b_along_k(&g) ? i / HU_MMA_WORDS : i % HU_MMA_TILE;
			uint32_t a = 0, b = 0;
			HU_ONCE
			for (uint32_t v = 0; v < values; v++) {
				uint32_t ka = k0 + wa * values + v, kb = k0 + wb * values + v;
				a |= hu_mma_load(
					     kind, &g.a, ka < end && m0 + ra < g.m ? M::a(&g, m0 + ra, ka) : HU_OUTSIDE)
				     << (32 / values * v);
				b |= hu_mma_load(
					     kind, &g.b, kb < end && n0 + cb < g.n ? M::b(&g, kb, n0 + cb) : HU_OUTSIDE)
				     << (32 / values * v);
			}
			sa[ra * HU_MMA_LINE + wa] = a;
			sb[cb * HU_MMA_LINE + wb] = b;
		}
		HU_SYNC();
		HU_ONCE
		for (uint32_t w = 0; w < HU_MMA_WORDS && k0 + w * values < end; w += 8) {
			int half = values < 4 &&
				   end - (k0 + w * values) <=
					   /* for fp8 it makes no difference, because its products do not end in a -0
					      that more zeros would change */
					   4 * values;
			const uint32_t *x = sa + (row + r) * HU_MMA_LINE + w + t;
			uint32_t a[4] = { x[0], x[8 * HU_MMA_LINE], x[4], x[8 * HU_MMA_LINE + 4] };
			HU_UNROLL
			for (int j = 0; j < 4; j++) {
				const uint32_t *y = sb + (col + j * 8 + r) * HU_MMA_LINE + w + t;
				uint32_t b[2] = { y[0], y[4] };
				hu_mma(kind, half, d[j], a, b, g.sum.arch);
			}
		}
	}
	HU_UNROLL
	for (int j = 0; j < 4; j++)
		HU_UNROLL
		for (int i = 0; i < 4; i++) {
			uint32_t m = m0 + row + r + i / 2 * 8, n = n0 + col + j * 8 + 2 * t + i % 2;
			if (m >= g.m || n >= g.n)
				continue;
			if (sums)
				sums[((size_t)p * g.m + m) * g.n + n] = d[j][i];
			else
				hu_gemm_store(&g, m * g.n + n, (double)d[j][i]);
		}
}

/* The kind of product for the call's model on a device of w->arch; -1: there is none. */
static inline int
hu_mma_kind(const hu_work *w, const hu_gemm *g)
{
	const hu_sum *s = &g->sum;

	if (s->id != HU_SUM_TC || s->n ||
		(s->path && !(hu_tc_of(s->arch, s->in, s->path).paths & (HU_TC_MMA | HU_TC_WGMMA))) ||
		(w->arch >= 0 && w->arch != (int)s->arch) || s->arch < HU_TC_AMPERE)
		return -1;
	int fp8 = (s->in == HU_E4M3 || s->in == HU_E5M2) && (s->in2 == HU_E4M3 || s->in2 == HU_E5M2);
	if ((s->in != s->in2 && !fp8) || hu_outer_format(*s).id != s->out || hu_mode_draws(s->mode) ||
		g->parts > HU_MOST_PARTS ||
		hu_tc_of(s->arch, s->in, s->path).kind < 0 || hu_tc_of(s->arch, s->in, s->path).kind > HU_TC_HALVES)
		return -1;
	if (s->in == HU_FP16 && w->in[0]->format == HU_FP16 && w->in[1]->format == HU_FP16)
		return s->out == HU_FP32 ? HU_MMA_F16 : s->out == HU_FP16 ? HU_MMA_F16_F16 : -1;
	if (s->out != HU_FP32)
		return -1;
	if (s->in == HU_BF16 && w->in[0]->format == HU_BF16 && w->in[1]->format == HU_BF16)
		return HU_MMA_BF16;
	for (int kind = HU_MMA_E4M3; fp8 && kind < HU_MMA_KINDS; kind++)
		if (w->in[0]->format == hu_mma_format(kind, 0) && w->in[1]->format == hu_mma_format(kind, 1))
			return kind;
	return s->in == HU_TF32 && g->a.kind == HU_KIND_F32 && g->b.kind == HU_KIND_F32 ? HU_MMA_TF32 : -1;
}

/* Transposes fp8 operands that are stored across k, in scratch space. *to, for M::turned, has everything else
   already. */
template <class M>
static hu_status
hu_gemm_turn(hu_work *w, const hu_gemm *g, hu_gemm *to)
{
	if (!M::a_along_k(g)) {
		void *a = hu_work_take(w, (size_t)g->m * g->k);
		HU_TRY(HU_SIDE(gemm_turn)(w, g->a.data, a, g->k, g->m));
		to->a.data = a;
	}
	if (!M::b_along_k(g)) {
		void *b = hu_work_take(w, (size_t)g->n * g->k);
		HU_TRY(HU_SIDE(gemm_turn)(w, g->b.data, b, g->k, g->n));
		to->b.data = b;
	}
	return HU_OK;
}

/* Runs the product of a kind that the warpgroup units compute. The way bulk has kernels of its own: with bulk copies
   alone where they serve, otherwise with warps that gather. */
template <class M, int KIND>
static hu_status
hu_units_go(hu_work *w, const hu_gemm *g, float *sums)
{
	if (w->gemm != HU_GEMM_BULK)
		return hu_group_go<M, KIND>(w, g, sums);
	if constexpr (M::bulk)
		if (hu_bulk_serves<M>(g, KIND))
			return hu_bulk_go<M, KIND>(w, g, sums);
	if constexpr (!M::bulk || KIND >= HU_MMA_E4M3)
		return hu_split_go<M, KIND>(w, g, sums);
	return HU_OK; /* never reached */
}

/* Runs the large tiles' product of a kind without fp8 by the warpgroup units (if groups is set) or by mma.sync. */
template <class M>
static hu_status
hu_large_go(hu_work *w, const hu_gemm *g, float *sums, int groups, int kind)
{
	if (kind == HU_MMA_TF32)
		return hu_wide_go<M, HU_MMA_TF32>(w, g, sums, kind);
	if (!groups)
		return hu_wide_go<M, HU_MMA_F16>(w, g, sums, kind);
	return kind == HU_MMA_F16 ? hu_units_go<M, HU_MMA_F16>(w, g, sums) : hu_units_go<M, HU_MMA_BF16>(w, g, sums);
}

/* The same for any kind of fp8. */
template <class M>
static hu_status
hu_large_go_fp8(hu_work *w, const hu_gemm *g, float *sums, int groups, int kind)
{
	if (!groups)
		return hu_wide_go<M, HU_MMA_E4M3>(w, g, sums, kind);
	return kind == HU_MMA_E4M3        ? hu_units_go<M, HU_MMA_E4M3>(w, g, sums)
	       : kind == HU_MMA_E5M2      ? hu_units_go<M, HU_MMA_E5M2>(w, g, sums)
	       : kind == HU_MMA_E4M3_E5M2 ? hu_units_go<M, HU_MMA_E4M3_E5M2>(w, g, sums)
					  : hu_units_go<M, HU_MMA_E5M2_E4M3>(w, g, sums);
}

/* Writes the operands' formats: one name if they are the same. */
static inline const char *
hu_mma_names(char *names, size_t size, const hu_sum *s)
{
	snprintf(names, size, s->in == s->in2 ? "%s" : "%s by %s", hu_format_name(s->in), hu_format_name(s->in2));
	return names;
}

/* Returns 1 if the matrix units support the call, which it then launches, with status *st. */
template <class M>
static int
hu_gemm_mma(hu_work *w, const hu_gemm *g, hu_status *st)
{
	int kind = hu_mma_kind(w, g);
	float *sums = NULL;
	char names[64];

	/* A device runs code compiled for older ones, in which instructions that those lack were compiled to
	   nothing. */
	if (kind < 0 || HU_COMPILED_FOR(hu_mma_kernel<M>) < (kind >= HU_MMA_E4M3 ? 89 : 80))
		return 0;
	typedef typename M::turned U;
	hu_gemm u = *g;
	int fp8 = kind >= HU_MMA_E4M3;
	U::turn(&u);
	int groups = fp8 ? hu_group_serves<U>(w, &u, kind) : hu_group_serves<M>(w, g, kind),
	    bulk = groups && w->gemm == HU_GEMM_BULK && hu_bulk_serves<M>(g, kind),
	    columns = bulk     ? hu_bulk_columns(g, kind)
		      : groups ? hu_group_columns<M>(g, kind)
		      : fp8    ? hu_wide_columns<U>(&u, kind)
			       : hu_wide_columns<M>(g, kind);
	if (!groups && g->sum.path && !(hu_tc_of(g->sum.arch, g->sum.in, g->sum.path).paths & HU_TC_MMA))
		return 0; /* the model of fp8 by wgmma is not that of mma.sync */
	if (g->parts > 1)
		sums = (float *)hu_work_take(w, (size_t)g->parts * g->m * g->n * sizeof *sums);
	if (columns) {
		HU_GEMM_SAY(w, groups ? "wgmma %s to fp32, 128x%d" : "mma.sync %s to fp32, 128x%d",
			hu_mma_names(names, sizeof names, &g->sum), columns);
		*st = fp8 ? hu_gemm_turn<M>(w, g, &u) : HU_OK;
		if (*st == HU_OK)
			*st = fp8 ? hu_large_go_fp8<U>(w, &u, sums, groups, kind)
				  : hu_large_go<M>(w, g, sums, groups, kind);
		if (*st == HU_OK && sums)
			*st = HU_SIDE(gemm_parts)(w, g, sums, 0, g->sum.out);
		return 1;
	}
	HU_GEMM_SAY(w, "mma.sync %s to %s, 64x64", hu_mma_names(names, sizeof names, &g->sum),
		hu_format_name(g->sum.out));
	dim3 grid = hu_gemm_grid(g, HU_MMA_TILE, HU_MMA_TILE);
	*st = HU_GO(w, hu_mma_kernel<M>, grid, HU_MMA_THREADS, 0, *g, kind, sums);
	if (*st == HU_OK && sums)
		*st = HU_SIDE(gemm_parts)(w, g, sums, 0, g->sum.out);
	return 1;
}
#endif
