/* SPDX-License-Identifier: Apache-2.0
   conv2d_dw x, dy [, sx, sy] -> dw[kh,kw,C/groups,co]; attributes of lib/op/contract/conv.h, kh, kw, part, scaled. The
   index k of the sum is (image, output row, output column); a batch of the contraction is a group. */
#include "lib/op/contract/contract.h"
#include "lib/op/sum_call.h"
#include "lib/op/contract/conv.h"

/* For the tap of one weight, an output row's pixels are a stride apart in an image row. */
static hu_stretch
row(const hu_contract *c, size_t m, size_t k)
{
	size_t ch = c->batch * c->ci + m % c->ci, tap = m / c->ci, n = k / (c->ho * c->wo), r = k / c->wo % c->ho,
	       q = k % c->wo;
	ptrdiff_t y = (ptrdiff_t)(r * c->sh + tap / c->kw * c->dh) - c->pad_h,
		  x = (ptrdiff_t)(q * c->sw + tap % c->kw * c->dw) - c->pad_w, s = (ptrdiff_t)c->sw,
		  w = (ptrdiff_t)c->w;
	size_t rest = c->wo - q;

	if (y < 0 || y >= (ptrdiff_t)c->h || x >= w)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, rest };
	if (x < 0) {
		size_t out = (size_t)((-x + s - 1) / s);
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, out < rest ? out : rest };
	}
	size_t inside = (size_t)((w - x + s - 1) / s);
	return (hu_stretch){ (((ptrdiff_t)(n * c->h) + y) * w + x) * (ptrdiff_t)c->cin + (ptrdiff_t)ch, c->sw * c->cin,
		inside < rest ? inside : rest };
}

/* The map in two halves, with the terms of an output row. */
static void
spots(const hu_contract *c, size_t m, size_t rows, hu_spot *s)
{
	size_t channel = m % c->ci, tap = m / c->ci;

	for (size_t i = 0; i < rows; i++) {
		ptrdiff_t y = (ptrdiff_t)(tap / c->kw * c->dh) - c->pad_h,
			  x = (ptrdiff_t)(tap % c->kw * c->dw) - c->pad_w;
		s[i] = (hu_spot){ y, x,
			(y * (ptrdiff_t)c->w + x) * (ptrdiff_t)c->cin + (ptrdiff_t)(c->batch * c->ci + channel), 0 };
		if (++channel == c->ci) {
			channel = 0;
			tap++;
		}
	}
}

static hu_spot
term(const hu_contract *c, size_t k)
{
	size_t q = k % c->wo, line = k / c->wo, y = line % c->ho * c->sh, x = q * c->sw, n = line / c->ho;

	return (hu_spot){ (ptrdiff_t)y, (ptrdiff_t)x, (ptrdiff_t)(((n * c->h + y) * c->w + x) * c->cin), c->wo - q };
}

static hu_status
describe(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	HU_TRY(hu_conv_of(x, c, in[0].d[1], in[0].d[2], hu_attr_count(c, "kh", 0), hu_attr_count(c, "kw", 0)));
	HU_TRY(hu_conv_groups(x, c, in[0].d[3], in[1].d[3]));
	x->m = x->kh * x->kw * x->ci;
	x->k = in[0].d[0] * x->ho * x->wo;
	x->row = row;
	x->spots = spots;
	x->term = term;
	x->high = x->h;
	x->wide = x->w;
	x->step = x->sw;
	x->stride = x->sw * x->cin;
	hu_conv_filters(x, in[0].d[0]);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x = { 0 };

	if (in[0].rank != 4 || in[1].rank != 4 || !hu_count(in[0]) || !hu_count(in[1]) || !hu_attr_count(c, "kh", 0) ||
		!hu_attr_count(c, "kw", 0))
		return hu_fail(HU_EINVAL,
			"conv2d_dw: the image and the gradient must have rank 4, and kh and kw must be set");
	HU_TRY(describe(&x, c, in));
	if (in[1].d[0] != in[0].d[0] || in[1].d[1] != x.ho || in[1].d[2] != x.wo)
		return hu_fail(HU_EINVAL, "conv2d_dw: the gradient must be %zux%zux%zuxC", in[0].d[0], x.ho, x.wo);
	hu_shape y = hu_shape4(x.kh, x.kw, x.ci, x.cout);
	if (out->rank && !hu_same_shape(*out, y))
		return hu_fail(
			HU_EINVAL, "conv2d_dw: the output must be %zux%zux%zux%zu", y.d[0], y.d[1], y.d[2], y.d[3]);
	*out = y;
	return HU_OK;
}

/* An image with one pixel for each term. */
static void
sum_call(size_t n, hu_sum_call *s)
{
	*s = (hu_sum_call){ .n = n, .nin = 2, .in = { hu_shape4(n, 1, 1, 1), hu_shape4(n, 1, 1, HU_SUM_COLUMNS) },
		.out = hu_shape4(1, 1, 1, HU_SUM_COLUMNS), .copies = { 1, HU_SUM_COLUMNS },
		.attr = { { "kh", 1 }, { "kw", 1 } }, .equal = HU_SUM_COLUMNS, .place = hu_sum_call_place };
}

const hu_op hu_op_conv2d_dw = {
	.name = "conv2d_dw", .summary = "gradient of a convolution for its kernel",
	.min_in = 2, .max_in = 4, .nout = 1, .attrs = HU_CONV_ATTRS " kh kw part scaled",
	.cls = HU_CLASS_GEMM, .parity = HU_PARITY_BOUND,
	.own = { .sum_call = sum_call },
	.family = &hu_family_contract, .contract = &(hu_contract_own){ .map = describe, .shape = shape },
};
