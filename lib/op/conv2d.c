/* SPDX-License-Identifier: Apache-2.0
   conv2d x[N,H,W,C], w[kh,kw,ci,co] [, sx, sw] -> y; attributes stride, part, scaled; SAME padding.
   k = (kernel row, kernel column, input channel). */
#include "lib/op/contract.h"

/* Within a kernel row, taps and channels lie side by side in the image; outside it they are +0. */
static hu_stretch
row(const hu_contract *c, size_t m, size_t k)
{
	size_t n = m / (c->ho * c->wo), r = m / c->wo % c->ho, col = m % c->wo, line = c->kw * c->ci, i = k / line, j = k % line;
	ptrdiff_t y = (ptrdiff_t)(r * c->s + i) - c->pad_h, x0 = (ptrdiff_t)(col * c->s) - c->pad_w, x = x0 + (ptrdiff_t)(j / c->ci);

	if (y < 0 || y >= (ptrdiff_t)c->h)
		return (hu_stretch){ -1, 1, line - j };
	if (x < 0)
		return (hu_stretch){ -1, 1, (size_t)(-x0) * c->ci - j < line - j ? (size_t)(-x0) * c->ci - j : line - j };
	if (x >= (ptrdiff_t)c->w)
		return (hu_stretch){ -1, 1, line - j };
	size_t inside = ((size_t)((ptrdiff_t)c->w - x0)) * c->ci, end = inside < line ? inside : line;
	return (hu_stretch){ ((ptrdiff_t)(n * c->h + (size_t)y) * (ptrdiff_t)c->w + x) * (ptrdiff_t)c->ci + (ptrdiff_t)(j % c->ci), 1, end - j };
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
	x->h = in[0].d[1];
	x->w = in[0].d[2];
	x->ci = in[0].d[3];
	x->kh = in[1].d[0];
	x->kw = in[1].d[1];
	x->co = in[1].d[3];
	x->ho = hu_same(x->h, x->kh, x->s, &x->pad_h);
	x->wo = hu_same(x->w, x->kw, x->s, &x->pad_w);
	x->m = in[0].d[0] * x->ho * x->wo;
	x->k = x->kh * x->kw * x->ci;
	x->n = x->co;
	x->row = row;
	x->column = column;
	x->column_stride = 1;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x;

	if (in[0].rank != 4 || in[1].rank != 4 || !hu_count(in[0]) || !hu_count(in[1]) || !hu_attr_count(c, "stride", 1))
		return hu_fail(HU_EINVAL, "conv2d: an image and a kernel of rank 4 and a stride of 1 or more are needed");
	if (in[0].d[3] != in[1].d[2])
		return hu_fail(HU_EINVAL, "conv2d: the image has %zu channels, the kernel takes %zu", in[0].d[3], in[1].d[2]);
	map(&x, c, in);
	hu_shape y = hu_shape4(in[0].d[0], x.ho, x.wo, x.co);
	if (out->rank && !hu_same_shape(*out, y))
		return hu_fail(HU_EINVAL, "conv2d: the output must be %zux%zux%zux%zu", y.d[0], y.d[1], y.d[2], y.d[3]);
	*out = y;
	return HU_OK;
}

static const hu_grad grad[] = {
	{ "conv2d_dx", "d0 i1", "i0", "height=i0.1 width=i0.2" },
	{ "conv2d_dw", "i0 d0", "i1", "kh=i1.0 kw=i1.1" },
	{ NULL, NULL, NULL, NULL },
};

HU_CONTRACT_OP(conv2d, "convolution, NHWC, SAME padding", "stride part scaled", grad, NULL)
