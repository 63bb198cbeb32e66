/* SPDX-License-Identifier: Apache-2.0
   The three convolutions against their definition: loops over every index in the order of
   doc/formats.md, each output by the plain summation model, bit for bit, odd sizes included, with SAME padding and with
   paddings, strides and dilations of each side and axis, and groups; of one channel each, too, which
   lib/op/contract/depthwise computes (depthwise_plain.c, depthwise_avx2.c, depthwise_avx512.c). */
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "lib/op/op.h"
#include "lib/sum/table/model.h"
#include "lib/sum/tree.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_at(7, 2, 0, counter++).w[0];
}

/* ci and co: of a group. own: padding top, bottom, left, right instead of SAME. */
typedef struct geometry {
	size_t n, h, w, ci, kh, kw, co, s, ho, wo;
	long ph, pw;
	int own;
	size_t pad[4], sw, dh, dw, groups;
} geometry;

static size_t
same(size_t n, size_t k, size_t s, long *before)
{
	size_t out = (n + s - 1) / s;
	long total = (long)((out - 1) * s + k) - (long)n;

	*before = total > 0 ? total / 2 : 0;
	return out;
}

static hu_tensor
tensor(hu_shape s, int fill)
{
	hu_tensor t = {
		.format = HU_FP32, .shape = s, .n = hu_count(s), .data = hu_alloc(hu_count(s) * sizeof(float))
	};

	for (size_t i = 0; i < t.n && fill; i++) {
		uint32_t r = bits();
		float v = (float)((double)bits() * 0x1p-32 - 0.5) * (float)hu_pow2((int)(r % 12) - 6);
		((float *)t.data)[i] = fill == 2 && r % 97 == 0   ? (float)hu_inf((int)(r >> 8) & 1)
				       : fill == 2 && r % 89 == 0 ? 0x1p-140f
				       : fill == 3                ? v * 0x1p-73f
				       : r % 31 == 0              ? -0.0f
								  : v;
	}
	return t;
}

static double
sum(const double *a, const double *b, size_t k, size_t part)
{
	double sums[128];
	size_t parts = part ? (k + part - 1) / part : 1;

	if (!part)
		part = k;
	for (size_t p = 0; p < parts; p++)
		sums[p] = hu_model_run(
			a + p * part, b + p * part, p + 1 < parts ? part : k - p * part, hu_sum_default(), NULL, NULL);
	return parts == 1 ? sums[0] : hu_tree_any(sums, parts, 1, hu_format_of(HU_FP32));
}

/* x at image row y, column x: +0 outside. */
static double
pixel(const hu_tensor *t, size_t h, size_t w, size_t c, size_t n, long y, long x, size_t ch)
{
	return y < 0 || x < 0 || y >= (long)h || x >= (long)w
		       ? 0.0
		       : hu_get(t, ((n * h + (size_t)y) * w + (size_t)x) * c + ch);
}

static int
forward(const geometry *g, const hu_tensor *x, const hu_tensor *w, const hu_tensor *y, double *a)
{
	size_t k = g->kh * g->kw * g->ci, i = 0;
	int bad = 0;

	for (size_t n = 0; n < g->n; n++)
		for (size_t r = 0; r < g->ho; r++)
			for (size_t c = 0; c < g->wo; c++)
				for (size_t o = 0; o < g->co * g->groups; o++, i++) {
					size_t l = 0;
					for (size_t p = 0; p < g->kh; p++)
						for (size_t q = 0; q < g->kw; q++)
							for (size_t ch = 0; ch < g->ci; ch++, l++) {
								a[l] = pixel(x, g->h, g->w, g->ci * g->groups, n,
									(long)(r * g->s + p * g->dh) - g->ph,
									(long)(c * g->sw + q * g->dw) - g->pw,
									o / g->co * g->ci + ch);
								a[k + l] = hu_get(w, ((p * g->kw + q) * g->ci + ch) *
												     g->co * g->groups +
											     o);
							}
					bad += bits_of_float((float)hu_get(y, i)) !=
					       bits_of_float((float)sum(a, a + k, k, 0));
				}
	return bad;
}

static int
data_gradient(const geometry *g, const hu_tensor *dy, const hu_tensor *w, const hu_tensor *dx, double *a)
{
	size_t k = g->kh * g->kw * g->co, i = 0;
	int bad = 0;

	for (size_t n = 0; n < g->n; n++)
		for (long y = 0; y < (long)g->h; y++)
			for (long x = 0; x < (long)g->w; x++)
				for (size_t ch = 0; ch < g->ci * g->groups; ch++, i++) {
					size_t l = 0, group = ch / g->ci;
					for (size_t p = 0; p < g->kh; p++)
						for (size_t q = 0; q < g->kw; q++)
							for (size_t o = 0; o < g->co; o++) {
								long r = y + g->ph - (long)(p * g->dh),
								     c = x + g->pw - (long)(q * g->dw), s = (long)g->s,
								     t = (long)g->sw;
								if (r % s || c % t)
									continue; /* no operand */
								a[l] = r < 0 || c < 0
									       ? 0.0
									       : pixel(dy, g->ho, g->wo,
											 g->co * g->groups, n, r / s,
											 c / t, group * g->co + o);
								a[k + l++] = hu_get(
									w, ((p * g->kw + q) * g->ci + ch % g->ci) *
											   g->co * g->groups +
										   group * g->co + o);
							}
					bad += bits_of_float((float)hu_get(dx, i)) !=
					       bits_of_float((float)sum(a, a + k, l, 0));
				}
	return bad;
}

static int
weight_gradient(const geometry *g, const hu_tensor *x, const hu_tensor *dy, const hu_tensor *dw, size_t part, double *a)
{
	size_t k = g->n * g->ho * g->wo, i = 0;
	int bad = 0;

	for (size_t p = 0; p < g->kh; p++)
		for (size_t q = 0; q < g->kw; q++)
			for (size_t ch = 0; ch < g->ci; ch++)
				for (size_t o = 0; o < g->co * g->groups; o++, i++) {
					size_t l = 0;
					for (size_t n = 0; n < g->n; n++)
						for (size_t r = 0; r < g->ho; r++)
							for (size_t c = 0; c < g->wo; c++, l++) {
								a[l] = pixel(x, g->h, g->w, g->ci * g->groups, n,
									(long)(r * g->s + p * g->dh) - g->ph,
									(long)(c * g->sw + q * g->dw) - g->pw,
									o / g->co * g->ci + ch);
								a[k + l] = hu_get(dy, l * g->co * g->groups + o);
							}
					bad += bits_of_float((float)hu_get(dw, i)) !=
					       bits_of_float((float)sum(a, a + k, k, part));
				}
	return bad;
}

static void
run(const char *op, hu_tensor *p, hu_tensor *q, hu_tensor *y, const geometry *g, size_t part)
{
	hu_call c = { .op = hu_op_find(op),
		.nin = 2,
		.nout = 1,
		.sum = hu_sum_default(),
		.fmt = { HU_FP32, HU_FP32, HU_FP32, HU_FP32 } };
	hu_tensor *in[2] = { p, q };
	hu_shape shapes[2] = { p->shape, q->shape }, out = y->shape;
	hu_env env = { 1, 1 };

	if (y->format == HU_FP64)
		c.fmt.in = c.fmt.compute = c.fmt.acc = c.fmt.out = c.sum.acc = HU_FP64;

	static const char *const side[] = { "padding_top", "padding_bottom", "padding_left", "padding_right" };

	hu_attr_set(&c, "stride", (double)g->s);
	if (g->sw != g->s)
		hu_attr_set(&c, "stride_w", (double)g->sw);
	for (int i = 0; g->own && i < 4; i++)
		hu_attr_set(&c, side[i], (double)g->pad[i]);
	if (g->dh == g->dw && g->dh > 1) {
		hu_attr_set(&c, "dilation", (double)g->dh);
	} else if (g->dh != g->dw) {
		hu_attr_set(&c, "dilation_h", (double)g->dh);
		hu_attr_set(&c, "dilation_w", (double)g->dw);
	}
	if (g->groups > 1)
		hu_attr_set(&c, "groups", (double)g->groups);
	hu_attr_set(&c, "part", (double)part);
	hu_attr_set(&c, "height", (double)g->h);
	hu_attr_set(&c, "width", (double)g->w);
	hu_attr_set(&c, "kh", (double)g->kh);
	hu_attr_set(&c, "kw", (double)g->kw);
	if (HU_COLUMN(c.op, shape)(&c, shapes, &out) != HU_OK || HU_COLUMN(c.op, emulate)(&c, in, &y, &env) != HU_OK)
		bail_out("%s: %s", op, hu_reason());
}

/* The tensor in fp64, each number with digits that float32 has not. */
static hu_tensor
widened(const hu_tensor *t)
{
	hu_tensor w = { .format = HU_FP64, .shape = t->shape, .n = t->n, .data = hu_alloc(t->n * sizeof(double)) };

	for (size_t i = 0; i < t->n; i++)
		((double *)w.data)[i] = hu_get(t, i) * (1 + (double)bits() * 0x1p-60);
	return w;
}

/* How many outputs of the convolution in fp64 are not those of fused multiply-adds in its order. */
static int
differ_wide(const geometry *g, hu_tensor x, hu_tensor w)
{
	hu_tensor y = { .format = HU_FP64, .shape = hu_shape4(g->n, g->ho, g->wo, g->co * g->groups) };
	int bad = 0;

	y.n = hu_count(y.shape);
	y.data = hu_alloc(y.n * sizeof(double));
	run("conv2d", &x, &w, &y, g, 0);
	for (size_t i = 0; i < y.n; i++) {
		size_t outs = g->co * g->groups, o = i % outs, c = i / outs % g->wo, r = i / outs / g->wo % g->ho;
		double sum = 0;
		for (size_t l = 0; l < g->kh * g->kw * g->ci; l++) {
			size_t ch = l % g->ci, q = l / g->ci % g->kw, p = l / g->ci / g->kw;
			sum = fma(pixel(&x, g->h, g->w, g->ci * g->groups, i / outs / g->wo / g->ho,
					  (long)(r * g->s + p * g->dh) - g->ph, (long)(c * g->sw + q * g->dw) - g->pw,
					  o / g->co * g->ci + ch),
				hu_get(&w, l * outs + o), sum);
		}
		double got = hu_get(&y, i);
		bad += sum != sum ? got == got : hu_bits64(got) != hu_bits64(sum);
	}
	free(y.data);
	return bad;
}

/* The same of operands in fp64 and of those in fp32. */
static int
in_doubles(const geometry *g, const hu_tensor *single, const hu_tensor *filters)
{
	hu_tensor x = widened(single), w = widened(filters);
	int bad = differ_wide(g, x, w) + differ_wide(g, *single, *filters);

	free(x.data);
	free(w.data);
	return bad;
}

static void
test_geometry(geometry g, int fill)
{
	size_t reach_h, reach_w;

	g.sw = g.sw ? g.sw : g.s;
	g.dh = g.dh ? g.dh : 1;
	g.dw = g.dw ? g.dw : 1;
	g.groups = g.groups ? g.groups : 1;
	reach_h = (g.kh - 1) * g.dh + 1;
	reach_w = (g.kw - 1) * g.dw + 1;
	g.ho = same(g.h, reach_h, g.s, &g.ph);
	g.wo = same(g.w, reach_w, g.sw, &g.pw);
	if (g.own) {
		if (g.h + g.pad[0] + g.pad[1] < reach_h || g.w + g.pad[2] + g.pad[3] < reach_w)
			return;
		g.ho = (g.h + g.pad[0] + g.pad[1] - reach_h) / g.s + 1;
		g.wo = (g.w + g.pad[2] + g.pad[3] - reach_w) / g.sw + 1;
		g.ph = (long)g.pad[0];
		g.pw = (long)g.pad[2];
	}
	size_t part = g.n * g.ho * g.wo > 40 ? 32 : 0, most = g.kh * g.kw * (g.ci > g.co ? g.ci : g.co);
	hu_tensor x = tensor(hu_shape4(g.n, g.h, g.w, g.ci * g.groups), fill),
		  w = tensor(hu_shape4(g.kh, g.kw, g.ci, g.co * g.groups), fill),
		  dy = tensor(hu_shape4(g.n, g.ho, g.wo, g.co * g.groups), fill);
	hu_tensor y = tensor(dy.shape, 0), dx = tensor(x.shape, 0), dw = tensor(w.shape, 0);
	double *a = hu_xmalloc(2 * (most > g.n * g.ho * g.wo ? most : g.n * g.ho * g.wo) * sizeof *a);

	run("conv2d", &x, &w, &y, &g, 0);
	run("conv2d_dx", &dy, &w, &dx, &g, 0);
	run("conv2d_dw", &x, &dy, &dw, &g, part);
	int bad = forward(&g, &x, &w, &y, a), bad_x = data_gradient(&g, &dy, &w, &dx, a),
	    bad_w = weight_gradient(&g, &x, &dy, &dw, part, a);
	int bad_wide = in_doubles(&g, &x, &w);
	ok(!bad && !bad_x && !bad_w && !bad_wide,
		"%zux%zux%zux%zu by %zux%zu to %zu, stride %zu,%zu, %s padding %ld,%ld, dilation %zu,%zu, %zu "
		"groups%s: outputs that differ: forward %d, in fp64 %d, data %d, weights %d",
		g.n, g.h, g.w, g.ci, g.kh, g.kw, g.co, g.s, g.sw, g.own ? "own" : "SAME", g.ph, g.pw, g.dh, g.dw,
		g.groups,
		fill == 2   ? ", infinities"
		: fill == 3 ? ", underflow"
			    : "",
		bad, bad_wide, bad_x, bad_w);
	free(a);
	free(x.data);
	free(w.data);
	free(dy.data);
	free(y.data);
	free(dx.data);
	free(dw.data);
}

int
main(void)
{
	static const geometry fixed[] = {
		{ 2, 7, 7, 3, 5, 5, 8, 2, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 1, 8, 5, 1, 7, 7, 4, 2, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 2, 4, 4, 5, 11, 11, 7, 2, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 3, 6, 6, 2, 3, 3, 17, 1, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 1, 9, 9, 2, 1, 1, 3, 3, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 2, 5, 8, 33, 2, 3, 35, 2, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 1, 2, 2, 3, 1, 1, 4, 5, 0, 0, 0, 0, 1, { 1, 1, 1, 1 }, 0, 0, 0, 0 }, /* only padding is seen */
	};

	static const geometry long_[] = {
		/* sums over several blocks of terms, each over taps within and without the image */
		{ 1, 7, 5, 130, 3, 3, 18, 1, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 2, 3, 300, 7, 3, 5, 17, 1, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		/* neighbours in a row are farther apart than the zeros read outside an image, and half as far */
		{ 1, 3, 7, 2100, 3, 3, 2, 2, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
		{ 1, 2, 7, 2050, 1, 5, 3, 1, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		test_geometry(fixed[i], 1);
	for (size_t i = 0; i < sizeof long_ / sizeof *long_; i++)
		for (int fill = 1; fill <= 2; fill++)
			test_geometry(long_[i], fill);
	for (int i = 0; i < 60; i++) {
		geometry g = { 1 + bits() % 3, 1 + bits() % 9, 1 + bits() % 9, 1 + bits() % 6, 1 + bits() % 5,
			1 + bits() % 5, 1 + bits() % 20, 1 + bits() % 3, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0 };
		hu_threads_set(1 + i % 2);
		if (i % 4 == 3)
			hu_simd_set("scalar");
		test_geometry(g, 1 + i % 3); /* 3: products near fp32's smallest, where sums end as -0 */
		hu_simd_set("auto");
	}
	for (int i = 0; i < 120; i++) {
		geometry g = { 1 + bits() % 2, 1 + bits() % 9, 1 + bits() % 9, 1 + bits() % 4, 1 + bits() % 4,
			1 + bits() % 4, 1 + bits() % 5, 1 + bits() % 4, 0, 0, 0, 0, i % 4 != 0,
			{ bits() % 4, bits() % 4, bits() % 4, bits() % 4 }, 1 + bits() % 4, 1 + bits() % 4,
			1 + bits() % 4, 1 + bits() % 4 };
		if (i % 8 == 7 || i % 3 == 2) /* depthwise, with one filter or two for each channel */
			g = (geometry){ .n = 2,
				.h = 7,
				.w = 6,
				.ci = 1,
				.kh = 3,
				.kw = 3,
				.co = 1 + bits() % 2,
				.s = 1 + bits() % 2,
				.sw = 1 + bits() % 3,
				.dh = 1 + bits() % 2,
				.dw = 1 + bits() % 3,
				.groups = i % 2 ? 20 : 2 + bits() % 150,
				.own = 1,
				.pad = { bits() % 3, 1, bits() % 4, 1 } };
		hu_threads_set(1 + i % 2);
		if (i % 4 == 3)
			hu_simd_set("scalar");
		test_geometry(g, 1 + i % 3);
		hu_simd_set("auto");
	}
	return done_testing();
}
