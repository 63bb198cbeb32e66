/* SPDX-License-Identifier: Apache-2.0
   conv2d_dx dy, w [, sy, sw] -> dx[N,height,width,ci]; attributes stride, height, width, part, scaled.
   k = (kernel row, kernel column, output channel); a tap that a stride skips is +0 and keeps its k. */
#include "lib/op/contract.h"

static hu_stretch
row(const hu_contract *c, size_t m, size_t k)
{
	size_t n = m / (c->h * c->w), y = m / c->w % c->h, x = m % c->w, j = k % c->co, tap = k / c->co;
	ptrdiff_t r = (ptrdiff_t)y + c->pad_h - (ptrdiff_t)(tap / c->kw), q = (ptrdiff_t)x + c->pad_w - (ptrdiff_t)(tap % c->kw), s = (ptrdiff_t)c->s;

	if (r < 0 || q < 0 || r % s || q % s || r / s >= (ptrdiff_t)c->ho || q / s >= (ptrdiff_t)c->wo)
		return (hu_stretch){ -1, 1, c->co - j };
	return (hu_stretch){ (((ptrdiff_t)(n * c->ho) + r / s) * (ptrdiff_t)c->wo + q / s) * (ptrdiff_t)c->co + (ptrdiff_t)j, 1, c->co - j };
}

static size_t
column(const hu_contract *c, size_t k)
{
	return k / c->co * c->ci * c->co + k % c->co;
}

/* Share I of the image: pixels of one phase (row mod stride, column mod stride) see the same taps,
   those whose distance the stride divides; the others are skipped. */
static hu_stretch
split_row(const hu_contract *c, size_t m, size_t k)
{
	size_t n = m / (c->rows * c->cols), i = m / c->cols % c->rows, l = m % c->cols, j = k % c->co, tap = k / c->co;
	ptrdiff_t s = (ptrdiff_t)c->s;
	ptrdiff_t r = (ptrdiff_t)i - (ptrdiff_t)(tap / c->taps_w) + ((ptrdiff_t)c->row0 + c->pad_h - (ptrdiff_t)c->tap_h0) / s;
	ptrdiff_t q = (ptrdiff_t)l - (ptrdiff_t)(tap % c->taps_w) + ((ptrdiff_t)c->col0 + c->pad_w - (ptrdiff_t)c->tap_w0) / s;

	if (r < 0 || q < 0 || r >= (ptrdiff_t)c->ho || q >= (ptrdiff_t)c->wo)
		return (hu_stretch){ -1, 1, c->co - j };
	return (hu_stretch){ (((ptrdiff_t)(n * c->ho) + r) * (ptrdiff_t)c->wo + q) * (ptrdiff_t)c->co + (ptrdiff_t)j, 1, c->co - j };
}

static size_t
split_column(const hu_contract *c, size_t k)
{
	size_t tap = k / c->co, p = c->tap_h0 + tap / c->taps_w * c->s, q = c->tap_w0 + tap % c->taps_w * c->s;

	return (p * c->kw + q) * c->ci * c->co + k % c->co;
}

static size_t
place(const hu_contract *c, size_t m)
{
	size_t n = m / (c->rows * c->cols), i = m / c->cols % c->rows, l = m % c->cols;

	return (n * c->h + c->row0 + i * c->s) * c->w + c->col0 + l * c->s;
}

static int
split(hu_contract *p, const hu_contract *c, size_t i)
{
	size_t phases_h = c->s < c->h ? c->s : c->h, phases_w = c->s < c->w ? c->s : c->w; /* the others have no pixel */

	if (i >= phases_h * phases_w)
		return 0;
	p->row0 = i / phases_w;
	p->col0 = i % phases_w;
	p->rows = (c->h - p->row0 + c->s - 1) / c->s;
	p->cols = (c->w - p->col0 + c->s - 1) / c->s;
	p->tap_h0 = (p->row0 + (size_t)c->pad_h) % c->s;
	p->tap_w0 = (p->col0 + (size_t)c->pad_w) % c->s;
	p->taps_h = p->tap_h0 < c->kh ? (c->kh - p->tap_h0 + c->s - 1) / c->s : 0;
	p->taps_w = p->tap_w0 < c->kw ? (c->kw - p->tap_w0 + c->s - 1) / c->s : 0;
	p->m = c->m / (c->h * c->w) * p->rows * p->cols;
	p->k = p->taps_h * p->taps_w * c->co;
	p->row = split_row;
	p->column = split_column;
	p->place = place;
	return 1;
}

static void
map(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	x->s = hu_attr_count(c, "stride", 1);
	x->h = hu_attr_count(c, "height", 0);
	x->w = hu_attr_count(c, "width", 0);
	x->kh = in[1].d[0];
	x->kw = in[1].d[1];
	x->ci = in[1].d[2];
	x->co = in[1].d[3];
	x->ho = hu_same(x->h, x->kh, x->s, &x->pad_h);
	x->wo = hu_same(x->w, x->kw, x->s, &x->pad_w);
	x->m = in[0].d[0] * x->h * x->w;
	x->k = x->kh * x->kw * x->co;
	x->n = x->ci;
	x->row = row;
	x->column = column;
	x->column_stride = x->co;
	x->split = x->s > 1 ? split : NULL;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x;

	if (in[0].rank != 4 || in[1].rank != 4 || !hu_count(in[0]) || !hu_count(in[1]) || !hu_attr_count(c, "stride", 1) || !hu_attr_count(c, "height", 0) || !hu_attr_count(c, "width", 0))
		return hu_fail(HU_EINVAL, "conv2d_dx: a gradient and a kernel of rank 4, a stride, a height and a width are needed");
	map(&x, c, in);
	if (in[0].d[1] != x.ho || in[0].d[2] != x.wo || in[0].d[3] != x.co)
		return hu_fail(HU_EINVAL, "conv2d_dx: the gradient must be Nx%zux%zux%zu", x.ho, x.wo, x.co);
	hu_shape y = hu_shape4(in[0].d[0], x.h, x.w, x.ci);
	if (out->rank && !hu_same_shape(*out, y))
		return hu_fail(HU_EINVAL, "conv2d_dx: the output must be %zux%zux%zux%zu", y.d[0], y.d[1], y.d[2], y.d[3]);
	*out = y;
	return HU_OK;
}

HU_CONTRACT_OP(conv2d_dx, "gradient of a convolution for its image", "stride height width part scaled", NULL, NULL)
