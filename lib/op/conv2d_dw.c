/* SPDX-License-Identifier: Apache-2.0
   conv2d_dw x, dy [, sx, sy] -> dw[kh,kw,ci,co]; attributes stride, kh, kw, part, scaled.
   k = (image, output row, output column). */
#include "lib/op/contract.h"

/* For one weight's tap, an output row's pixels lie a stride apart in an image row. */
static hu_stretch
row(const hu_contract *c, size_t m, size_t k)
{
	size_t ch = m % c->ci, tap = m / c->ci, n = k / (c->ho * c->wo), r = k / c->wo % c->ho, q = k % c->wo;
	ptrdiff_t y = (ptrdiff_t)(r * c->s + tap / c->kw) - c->pad_h, x = (ptrdiff_t)(q * c->s + tap % c->kw) - c->pad_w, s = (ptrdiff_t)c->s, w = (ptrdiff_t)c->w;
	size_t rest = c->wo - q;

	if (y < 0 || y >= (ptrdiff_t)c->h || x >= w)
		return (hu_stretch){ -1, 1, rest };
	if (x < 0) {
		size_t out = (size_t)((-x + s - 1) / s);
		return (hu_stretch){ -1, 1, out < rest ? out : rest };
	}
	size_t inside = (size_t)((w - x + s - 1) / s);
	return (hu_stretch){ (((ptrdiff_t)(n * c->h) + y) * w + x) * (ptrdiff_t)c->ci + (ptrdiff_t)ch, c->s * c->ci, inside < rest ? inside : rest };
}

static size_t
column(const hu_contract *c, size_t k)
{
	return k * c->co;
}

static void
map(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	x->s = hu_attr_count(c, "stride", 1);
	x->kh = hu_attr_count(c, "kh", 0);
	x->kw = hu_attr_count(c, "kw", 0);
	x->h = in[0].d[1];
	x->w = in[0].d[2];
	x->ci = in[0].d[3];
	x->co = in[1].d[3];
	x->ho = hu_same(x->h, x->kh, x->s, &x->pad_h);
	x->wo = hu_same(x->w, x->kw, x->s, &x->pad_w);
	x->m = x->kh * x->kw * x->ci;
	x->k = in[0].d[0] * x->ho * x->wo;
	x->n = x->co;
	x->row = row;
	x->column = column;
	x->column_stride = 1;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x;

	if (in[0].rank != 4 || in[1].rank != 4 || !hu_count(in[0]) || !hu_count(in[1]) || !hu_attr_count(c, "stride", 1) || !hu_attr_count(c, "kh", 0) || !hu_attr_count(c, "kw", 0))
		return hu_fail(HU_EINVAL, "conv2d_dw: an image and a gradient of rank 4, a stride, kh and kw are needed");
	map(&x, c, in);
	if (in[1].d[0] != in[0].d[0] || in[1].d[1] != x.ho || in[1].d[2] != x.wo)
		return hu_fail(HU_EINVAL, "conv2d_dw: the gradient must be %zux%zux%zuxC", in[0].d[0], x.ho, x.wo);
	hu_shape y = hu_shape4(x.kh, x.kw, x.ci, x.co);
	if (out->rank && !hu_same_shape(*out, y))
		return hu_fail(HU_EINVAL, "conv2d_dw: the output must be %zux%zux%zux%zu", y.d[0], y.d[1], y.d[2], y.d[3]);
	*out = y;
	return HU_OK;
}

HU_CONTRACT_OP(conv2d_dw, "gradient of a convolution for its kernel", "stride kh kw part scaled", NULL, NULL)
