/* SPDX-License-Identifier: Apache-2.0
   conv2d_dx dy, w [, sy, sw] -> dx[N,height,width,ci]. The index k of the sum is (kernel row, kernel column, output
   channel) over the taps that the stride does not skip. Pixels of one residue class have the same taps and are a
   product of their own. */
#include "cuda/gemm/gemm_run.cuh"

namespace {
struct map {
	static HU_DEVICE_MEMBER uint32_t a(const hu_gemm *g, uint32_t m, uint32_t k)
	{
		uint32_t n = hu_quotient(m, g->by_share), pixel = m - n * g->by_share.by,
			 i = hu_quotient(pixel, g->by_cols), l = pixel - i * g->cols;
		uint32_t tap = hu_quotient(k, g->by_co), u = hu_quotient(tap, g->by_taps_w), v = tap - u * g->taps_w;
		int32_t r = (int32_t)i + g->from_h - (int32_t)u * g->back_h,
			q = (int32_t)l + g->from_w - (int32_t)v * g->back_w;

		if (r < 0 || q < 0 || r >= (int32_t)g->ho || q >= (int32_t)g->wo)
			return HU_OUTSIDE;
		return ((n * g->ho + (uint32_t)r) * g->wo + (uint32_t)q) * g->co + (k - tap * g->co);
	}
	static HU_DEVICE_MEMBER uint32_t
	b(const hu_gemm *g, uint32_t k, uint32_t n)
	{
		uint32_t tap = hu_quotient(k, g->by_co), i = hu_quotient(tap, g->by_taps_w), j = tap - i * g->taps_w,
			 u = g->tap_h0 + i * g->step_h, v = g->tap_w0 + j * g->step_w;

		return ((u * g->kw + v) * g->ci + n) * g->co + (k - tap * g->co);
	}
	/* On the host: whether each s elements from a multiple of s on are contiguous, all inside or all outside the
	   image; along k if a_along_k or b_along_k says so, else across k. */
	static int a_groups(const hu_gemm *g, uint32_t s) { return g->co % s == 0; }
	static int b_groups(const hu_gemm *g, uint32_t s) { return g->co % s == 0; }
	static constexpr int patched = 0; /* whether there are kernels for channels that are no group (patch.cuh) */
	static constexpr int bulk = 0; /* whether operands are matrices, which bulk copies read (gemm_bulk.cuh) */
	static constexpr int b_matrix = 0; /* whether b is one, which bulk copies read (gemm_split.cuh) */
	static constexpr int narrow = 1; /* whether there are kernels for few columns (gemm_wgmma.cuh) */
	static constexpr int may_lie(int a, int b) { return a && b; }
	static int a_lies(const hu_gemm *g) { (void)g; return HU_LIES_SCATTERED; }
	static int b_lies(const hu_gemm *g) { (void)g; return HU_LIES_SCATTERED; }
	static HU_BOTH_MEMBER int a_along_k(const hu_gemm *) { return 1; }
	static HU_BOTH_MEMBER int b_along_k(const hu_gemm *) { return 1; }
	typedef map turned; /* no operand is stored across k */
	static void turn(hu_gemm *) {}
};
}

static hu_conv_axis
axis(uint32_t n, uint32_t taps, uint32_t stride, uint32_t dilation, uint32_t out, int32_t before)
{
	hu_conv_axis a = { n, taps, stride, dilation, out, before };

	return a;
}

/* The product for the pixels of class i of rows and class j of columns. */
static hu_gemm
share(const hu_work *w, const hu_gemm *whole, const hu_conv_axis *rows, const hu_conv_axis *cols, size_t i, size_t j)
{
	hu_conv_class v = hu_conv_class_of(rows, i), q = hu_conv_class_of(cols, j);
	hu_gemm g = *whole;

	g.row0 = (uint32_t)i;
	g.col0 = (uint32_t)j;
	g.rows = (uint32_t)v.pixels;
	g.cols = (uint32_t)q.pixels;
	g.tap_h0 = (uint32_t)v.tap0;
	g.tap_w0 = (uint32_t)q.tap0;
	g.step_h = (uint32_t)v.step;
	g.step_w = (uint32_t)q.step;
	g.taps_w = (uint32_t)q.taps;
	/* the strides divide these */
	g.from_h = ((int32_t)i + g.pad_h - (int32_t)(v.tap0 * rows->dilation)) / (int32_t)rows->stride;
	g.from_w = ((int32_t)j + g.pad_w - (int32_t)(q.tap0 * cols->dilation)) / (int32_t)cols->stride;
	g.back_h = (int32_t)(v.step * rows->dilation / rows->stride);
	g.back_w = (int32_t)(q.step * cols->dilation / cols->stride);
	g.by_share = hu_divisor_of(g.rows * g.cols);
	g.by_cols = hu_divisor_of(g.cols);
	g.by_co = hu_divisor_of(g.co);
	g.by_taps_w = hu_divisor_of(g.taps_w);
	g.placed = rows->stride > 1 || cols->stride > 1;
	g.m = g.m / (g.h * g.w) * g.rows * g.cols;
	g.k = (uint32_t)(v.taps * q.taps) * g.co;
	hu_gemm_split(w, &g);
	return g;
}

extern "C" hu_status
HU_SIDE(op_conv2d_dx)(hu_work *w)
{
	const hu_shape *dy = &w->in[0]->shape, *k = &w->in[1]->shape;
	char *ran = w->ran;
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
	g.k = 0;
	g.n = g.ci;
	HU_TRY(hu_gemm_of(w, &g));
	hu_conv_axis rows = axis(g.h, g.kh, g.stride_h, g.dilation_h, g.ho, g.pad_h),
		     cols = axis(g.w, g.kw, g.stride_w, g.dilation_w, g.wo, g.pad_w);
	uint32_t most = (uint32_t)(hu_conv_most_taps(&rows) * hu_conv_most_taps(&cols)) * g.co;
	g.terms = most;
	size_t used = w->used;
	for (size_t i = 0; i < hu_conv_classes(&rows); i++)
		for (size_t j = 0; j < hu_conv_classes(&cols); j++) {
			hu_gemm s = share(w, &g, &rows, &cols, i, j);
			w->used = used; /* launches are in order, so the next may use the same scratch space */
			w->ran = s.k == most ? ran : NULL;
			HU_TRY(hu_gemm_product<map>(w, &s));
		}
	w->ran = ran;
	return hu_result_finish(w, &g.raw, w->out[0]);
}
