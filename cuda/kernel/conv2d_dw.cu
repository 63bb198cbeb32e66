/* SPDX-License-Identifier: Apache-2.0
   conv2d_dw x, dy [, sx, sy] -> dw[kh,kw,ci,co]. The index k of the sum is (image, output row, output column). */
#include "cuda/gemm/gemm_run.cuh"
#include "cuda/gemm/patch.cuh"

namespace {
struct map {
	static HU_DEVICE_MEMBER uint32_t
	a(const hu_gemm *g, uint32_t m, uint32_t k)
	{
		return hu_patch_at(g, k, m);
	}
	static constexpr int patched = 1; /* whether there are kernels for channels that are no group (patch.cuh) */
	/* Loads 16 bytes of a across k, element by element: +0 past the end of the rows and of k. */
	template <int SIZE>
	static HU_DEVICE_MEMBER void
	a_patch(uint32_t *w, const hu_gemm *g, uint32_t m, uint32_t k, uint32_t end)
	{
		hu_patch_load<SIZE>(w, g, k, m, k < end ? g->m : 0);
	}
	static HU_DEVICE_MEMBER uint32_t b(const hu_gemm *g, uint32_t k, uint32_t n) { return k * g->co + n; }
	/* On the host: whether each s elements from a multiple of s on are contiguous, all inside or all outside the
	   image; along k if a_along_k or b_along_k says so, else across k. */
	static int a_groups(const hu_gemm *g, uint32_t s) { return g->ci % s == 0; }
	static int b_groups(const hu_gemm *g, uint32_t s) { return g->co % s == 0; }
	static constexpr int bulk = 0; /* whether operands are matrices, which bulk copies read (gemm_bulk.cuh) */
	static constexpr int b_matrix = 1; /* whether b is one, which bulk copies read (gemm_split.cuh) */
	static constexpr int narrow = 1; /* whether there are kernels for few columns (gemm_wgmma.cuh) */
	static constexpr int may_lie(int a, int b) { return !a && !b; }
	static int a_lies(const hu_gemm *g) { (void)g; return HU_LIES_SCATTERED; }
	static int b_lies(const hu_gemm *g) { (void)g; return HU_LIES_ACROSS_K; }
	static HU_BOTH_MEMBER int a_along_k(const hu_gemm *) { return 0; }
	static HU_BOTH_MEMBER int b_along_k(const hu_gemm *) { return 0; }
	typedef map turned; /* a transposed a would hold every pixel once for each weight */
	static void turn(hu_gemm *) {}
};
}

extern "C" hu_status
HU_SIDE(op_conv2d_dw)(hu_work *w)
{
	const hu_shape *x = &w->in[0]->shape, *dy = &w->in[1]->shape;
	hu_gemm g;

	memset(&g, 0, sizeof g);
	g.kh = (uint32_t)hu_attr_num(w->call, "kh", 0);
	g.kw = (uint32_t)hu_attr_num(w->call, "kw", 0);
	g.h = (uint32_t)x->d[1];
	g.w = (uint32_t)x->d[2];
	g.ci = (uint32_t)x->d[3];
	g.co = (uint32_t)dy->d[3];
	HU_TRY(hu_gemm_conv(w, &g, "conv2d_dw"));
	g.m = g.kh * g.kw * g.ci;
	g.k = (uint32_t)x->d[0] * g.ho * g.wo;
	g.n = g.co;
	HU_TRY(hu_gemm_of(w, &g));
	return hu_gemm_run<map>(w, &g);
}
