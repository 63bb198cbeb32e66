/* SPDX-License-Identifier: Apache-2.0
   The tiled product (simt) for accumulators that need only one running value: fma and chunk in fp32 or fp64; these and
   sequential in a short format. A block computes a square of outputs of one part, a thread each x each of them in
   registers, with operands staged through shared memory, 16 values of k at a time. Parts are summed by the fixed tree
   afterwards. */
#ifndef HU_CUDA_GEMM_TILE_CUH
#define HU_CUDA_GEMM_TILE_CUH

#include "cuda/gemm/gemm_tile_wide.cuh"

enum { HU_TILE_K = 16, HU_TILE_SIDE = 16, HU_TILE_THREADS = HU_TILE_SIDE * HU_TILE_SIDE };

/* Accumulators: how they load an element and add a term. If twice is set, the product is rounded too. */
struct hu_acc_f32 {
	typedef float T;
	enum { each = 4 };
	static HU_DEVICE_MEMBER T load(const hu_store_operand *o, uint32_t at) { return hu_gemm_f32(o, at); }
	static HU_DEVICE_MEMBER T step(const hu_short *, int, T acc, T a, T b) { return fmaf(a, b, acc); }
};

struct hu_acc_f64 {
	typedef double T;
	enum { each = 4 };
	static HU_DEVICE_MEMBER T load(const hu_store_operand *o, uint32_t at) { return hu_gemm_f64(o, at); }
	static HU_DEVICE_MEMBER T step(const hu_short *, int, T acc, T a, T b) { return fma(a, b, acc); }
};

/* In double, each step rounded to the format as lib/sum/step.h does to nearest even. */
struct hu_acc_short {
	typedef double T;
	enum { each = 2 };
	static HU_DEVICE_MEMBER T load(const hu_store_operand *o, uint32_t at) { return hu_gemm_f64(o, at); }
	static HU_DEVICE_MEMBER T step(const hu_short *f, int twice, T acc, T a, T b)
	{
		T p = a * b;

		return hu_short_add(f, acc, twice ? hu_short_round(f, p) : p);
	}
};

/* A block computes one tile of one part. chunk is the number of terms after which the sum moves to an outer one, if the
   call's model has chunks. sums is where parts go, [part][row][column]; NULL: there is one, and it is the result. */
template <class M, class A>
HU_KERNEL_OF(HU_TILE_THREADS)
hu_tile_kernel(HU_PARAM hu_gemm g, uint32_t chunk, int twice, typename A::T *sums)
{
	typedef typename A::T T;
	enum { EACH = A::each, TILE = HU_TILE_SIDE * EACH, LINE = TILE + 1 };
	HU_SHARED(T, sa, HU_TILE_K * LINE);
	HU_SHARED(T, sb, HU_TILE_K * LINE);
	hu_short f = hu_short_of(hu_format_of(g.sum.acc));
	hu_gemm_tile_at here = hu_gemm_tile_here(&g, TILE, TILE);
	uint32_t m0 = here.m0, n0 = here.n0, p = here.part;
	uint32_t first = p * g.part, end = g.k - first > g.part ? first + g.part : g.k, left = chunk;
	unsigned row = threadIdx.x / HU_TILE_SIDE, col = threadIdx.x % HU_TILE_SIDE;
	int chunks = g.sum.id == HU_SUM_CHUNK; /* even if a part is one chunk: 0 + -0 is +0 */
	T acc[EACH][EACH], outer[EACH][EACH];

	HU_UNROLL
	for (int i = 0; i < EACH; i++)
		HU_UNROLL
		for (int j = 0; j < EACH; j++)
			acc[i][j] = outer[i][j] = 0;
	HU_ONCE
	for (uint32_t k0 = first; k0 < end; k0 += HU_TILE_K) {
		uint32_t depth = end - k0 < HU_TILE_K ? end - k0 : (uint32_t)HU_TILE_K;
		HU_SYNC();
		HU_ONCE
		for (unsigned i = threadIdx.x; i < TILE * HU_TILE_K; i += HU_TILE_THREADS) {
			/* neighbouring threads read neighbouring elements */
			unsigned ka = M::a_along_k(&g) ? i % HU_TILE_K : i / TILE,
				 ra = M::a_along_k(&g) ? i / HU_TILE_K : i % TILE;
			unsigned kb = M::b_along_k(&g) ? i % HU_TILE_K : i / TILE,
				 cb = M::b_along_k(&g) ? i / HU_TILE_K : i % TILE;
			sa[ka * LINE + ra] =
				A::load(&g.a, ka < depth && m0 + ra < g.m ? M::a(&g, m0 + ra, k0 + ka) : HU_OUTSIDE);
			sb[kb * LINE + cb] =
				A::load(&g.b, kb < depth && n0 + cb < g.n ? M::b(&g, k0 + kb, n0 + cb) : HU_OUTSIDE);
		}
		HU_SYNC();
		HU_ONCE
		for (unsigned k = 0; k < depth; k++) {
			T a[EACH], b[EACH];
			HU_UNROLL
			for (int i = 0; i < EACH; i++) {
				a[i] = sa[k * LINE + row + i * HU_TILE_SIDE];
				b[i] = sb[k * LINE + col + i * HU_TILE_SIDE];
			}
			HU_UNROLL
			for (int i = 0; i < EACH; i++)
				HU_UNROLL
				for (int j = 0; j < EACH; j++)
					acc[i][j] = A::step(&f, twice, acc[i][j], a[i], b[j]);
			if (!chunks || (--left && k0 + k + 1 < end))
				continue;
			left = chunk;
			HU_UNROLL
			for (int i = 0; i < EACH; i++)
				HU_UNROLL
				for (int j = 0; j < EACH; j++) {
					outer[i][j] = hu_gemm_plus(&f, outer[i][j], acc[i][j]);
					acc[i][j] = 0;
				}
		}
	}
	HU_UNROLL
	for (int i = 0; i < EACH; i++)
		HU_UNROLL
		for (int j = 0; j < EACH; j++) {
			uint32_t m = m0 + row + (uint32_t)i * HU_TILE_SIDE, n = n0 + col + (uint32_t)j * HU_TILE_SIDE;
			T v = chunks ? outer[i][j] : acc[i][j];
			if (m >= g.m || n >= g.n)
				continue;
			if (sums)
				sums[((size_t)p * g.m + m) * g.n + n] = v;
			else
				hu_gemm_store(&g, m * g.n + n, (double)v);
		}
}

template <class M, class A>
static hu_status
hu_tile_go(hu_work *w, const hu_gemm *g)
{
	typedef typename A::T T;
	enum { TILE = HU_TILE_SIDE * A::each };
	T *sums = g->parts > 1 ? (T *)hu_work_take(w, (size_t)g->parts * g->m * g->n * sizeof *sums) : NULL;
	HU_GEMM_SAY(w, "simt %s, %dx%d", hu_format_name(g->sum.acc), (int)TILE, (int)TILE);
	uint32_t chunk = g->sum.id == HU_SUM_CHUNK ? (uint32_t)g->sum.n : g->k;

	HU_TRY(HU_GO(w, (hu_tile_kernel<M, A>), hu_gemm_grid(g, TILE, TILE), HU_TILE_THREADS, 0, *g, chunk,
		g->sum.id == HU_SUM_SEQUENTIAL, sums));
	return g->parts > 1 ? HU_SIDE(gemm_parts)(w, g, sums, sizeof *sums == sizeof(double), g->sum.acc) : HU_OK;
}

/* The tiled products; HU_TILED_NONE: no one supports the call's model. */
enum { HU_TILED_NONE, HU_TILED_BROAD, HU_TILED_F32, HU_TILED_F64, HU_TILED_SHORT };

/* Returns which of them supports the call's model, as the CPU's fast paths do. */
template <class M>
static int
hu_tile_of(const hu_gemm *g)
{
	const hu_sum *s = &g->sum;
	int fused = s->id == HU_SUM_FMA || s->id == HU_SUM_CHUNK,
	    wide = g->a.kind == HU_KIND_F64 || g->b.kind == HU_KIND_F64;
	int serves = s->acc != HU_FP64 && hu_short_serves(hu_format_of(s->acc));

	if (s->mode != HU_RNE || (s->outer != HU_NO_FORMAT && s->outer != s->acc) || g->parts > HU_MOST_PARTS)
		return HU_TILED_NONE;
	if (s->id == HU_SUM_FMA && !wide && s->acc == HU_FP32 && hu_broad_serves<M>(g))
		return HU_TILED_BROAD;
	if (fused && !wide && s->acc == HU_FP32)
		return HU_TILED_F32;
	if (fused && s->acc == HU_FP64)
		return HU_TILED_F64;
	return (fused || s->id == HU_SUM_SEQUENTIAL) && serves ? HU_TILED_SHORT : HU_TILED_NONE;
}

/* Returns 1 if a tiled product supports the call's model; it is then launched, with status *st. */
template <class M>
static int
hu_gemm_tile(hu_work *w, const hu_gemm *g, hu_status *st)
{
	switch (hu_tile_of<M>(g)) {
	case HU_TILED_BROAD: *st = hu_broad_go<M>(w, g); return 1;
	case HU_TILED_F32: *st = hu_tile_go<M, hu_acc_f32>(w, g); return 1;
	case HU_TILED_F64: *st = hu_tile_go<M, hu_acc_f64>(w, g); return 1;
	case HU_TILED_SHORT: *st = hu_tile_go<M, hu_acc_short>(w, g); return 1;
	default: /* HU_TILED_NONE */
		return 0;
	}
}
#endif
