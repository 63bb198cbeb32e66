/* SPDX-License-Identifier: Apache-2.0
   conv2d_dx dy, w [, sy, sw] -> dx[N,height,width,ci]. k = (kernel row, kernel column, output
   channel); a tap that a stride skips is +0 and keeps its k. */
#include "cuda/gemm/gemm_run.cuh"

namespace {
struct map {
	static HU_DEVICE_MEMBER uint32_t a(const hu_gemm *g, uint32_t m, uint32_t k)
	{
		uint32_t n = m / (g->h * g->w), y = m / g->w % g->h, x = m % g->w, tap = k / g->co;
		int32_t r = (int32_t)y + g->pad_h - (int32_t)(tap / g->kw * g->dilation_h),
			q = (int32_t)x + g->pad_w - (int32_t)(tap % g->kw * g->dilation_w);
		int32_t s = (int32_t)g->stride_h, t = (int32_t)g->stride_w;

		if (r < 0 || q < 0 || r % s || q % t || r / s >= (int32_t)g->ho || q / t >= (int32_t)g->wo)
			return HU_OUTSIDE;
		return ((n * g->ho + (uint32_t)(r / s)) * g->wo + (uint32_t)(q / t)) * g->co + k % g->co;
	}
	static HU_DEVICE_MEMBER uint32_t
	b(const hu_gemm *g, uint32_t k, uint32_t n)
	{
		return k / g->co * g->ci * g->co + k % g->co + n * g->co;
	}
	/* On the host: whether S elements from a multiple of S on, along k where ?_along_k says so, else across, lie
	   side by side, all inside or all outside. */
	static int a_groups(const hu_gemm *g, uint32_t s) { return g->co % s == 0; }
	static int b_groups(const hu_gemm *g, uint32_t s) { return g->co % s == 0; }
	static constexpr int may_lie(int a, int b) { return a && b; }
	static int a_lies(const hu_gemm *g) { (void)g; return HU_LIES_SCATTERED; }
	static int b_lies(const hu_gemm *g) { (void)g; return HU_LIES_SCATTERED; }
	static HU_DEVICE_MEMBER int a_along_k(const hu_gemm *) { return 1; }
	static HU_DEVICE_MEMBER int b_along_k(const hu_gemm *) { return 1; }
	typedef map turned; /* nothing lies across k */
	static void turn(hu_gemm *) {}
};
}

extern "C" hu_status
HU_SIDE(op_conv2d_dx)(hu_work *w)
{
	const hu_shape *dy = &w->in[0]->shape, *k = &w->in[1]->shape;
	hu_gemm g;

	memset(&g, 0, sizeof g);
	g.h = (uint32_t)hu_attr_num(w->call, "height", 0);
	g.w = (uint32_t)hu_attr_num(w->call, "width", 0);
	g.kh = (uint32_t)k->d[0];
	g.kw = (uint32_t)k->d[1];
	g.ci = (uint32_t)k->d[2];
	g.co = (uint32_t)k->d[3];
	HU_TRY(hu_gemm_conv(w, &g, "conv2d_dx"));
	g.m = (uint32_t)dy->d[0] * g.h * g.w;
	g.k = g.kh * g.kw * g.co;
	g.n = g.ci;
	HU_TRY(hu_gemm_of(w, &g));
	return hu_gemm_run<map>(w, &g);
}
