/* SPDX-License-Identifier: Apache-2.0
   conv2d_dx dy, w [, sy, sw] -> dx[N,height,width,C]; attributes of lib/op/contract/conv.h, height, width, part,
   scaled. k = (kernel row, kernel column, output channel of the group); a tap that a stride skips is +0 and keeps its
   k. A batch of the contraction is a group. */
#include "lib/op/contract/contract.h"
#include "lib/op/contract/conv.h"

/* The gradient's pixel (r, q) of image N, output channels J .. of the group. */
static hu_stretch
pixel(const hu_contract *c, size_t n, ptrdiff_t r, ptrdiff_t q, size_t j)
{
	if (r < 0 || q < 0 || r >= (ptrdiff_t)c->ho || q >= (ptrdiff_t)c->wo)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, c->co - j };
	return (hu_stretch){ (((ptrdiff_t)(n * c->ho) + r) * (ptrdiff_t)c->wo + q) * (ptrdiff_t)c->cout +
				     (ptrdiff_t)(c->batch * c->co + j),
		1, c->co - j };
}

static hu_stretch
row(const hu_contract *c, size_t m, size_t k)
{
	size_t n = m / (c->h * c->w), y = m / c->w % c->h, x = m % c->w, j = k % c->co, tap = k / c->co;
	ptrdiff_t r = (ptrdiff_t)y + c->pad_h - (ptrdiff_t)(tap / c->kw * c->dh),
		  q = (ptrdiff_t)x + c->pad_w - (ptrdiff_t)(tap % c->kw * c->dw), sh = (ptrdiff_t)c->sh,
		  sw = (ptrdiff_t)c->sw;

	if (r % sh || q % sw)
		return (hu_stretch){ HU_TAP_SKIPPED, 1, c->co - j };
	return pixel(c, n, r / sh, q / sw, j);
}

static size_t
at(const hu_contract *c, size_t tap, size_t k)
{
	return tap * c->ci * c->cout + c->batch * c->co + k % c->co;
}

static size_t
column(const hu_contract *c, size_t k)
{
	return at(c, k / c->co, k);
}

/* Share I of the image: pixels of one phase (row mod stride, column mod stride) see the same taps,
   those whose distance the stride divides; the others are skipped. */
static hu_stretch
split_row(const hu_contract *c, size_t m, size_t k)
{
	size_t n = m / (c->rows * c->cols), i = m / c->cols % c->rows, l = m % c->cols, j = k % c->co, tap = k / c->co;
	size_t u = c->tap_h0 + tap / c->taps_w * c->step_h, v = c->tap_w0 + tap % c->taps_w * c->step_w;

	/* the strides divide these */
	return pixel(c, n, (ptrdiff_t)i + ((ptrdiff_t)c->row0 + c->pad_h - (ptrdiff_t)(u * c->dh)) / (ptrdiff_t)c->sh,
		(ptrdiff_t)l + ((ptrdiff_t)c->col0 + c->pad_w - (ptrdiff_t)(v * c->dw)) / (ptrdiff_t)c->sw, j);
}

static size_t
split_column(const hu_contract *c, size_t k)
{
	size_t tap = k / c->co, u = c->tap_h0 + tap / c->taps_w * c->step_h,
	       v = c->tap_w0 + tap % c->taps_w * c->step_w;

	return at(c, u * c->kw + v, k);
}

static size_t
place(const hu_contract *c, size_t m)
{
	size_t n = m / (c->rows * c->cols), i = m / c->cols % c->rows, l = m % c->cols;

	return (n * c->h + c->row0 + i * c->sh) * c->w + c->col0 + l * c->sw;
}

/* Of TAPS taps, those t for which the stride divides FROM - t dilation: COUNT of them from *FIRST on, *STEP apart. */
static size_t
taps(size_t taps, size_t from, size_t stride, size_t dilation, size_t *first, size_t *step)
{
	size_t common = stride;

	for (size_t b = dilation % stride, rest; b; b = rest) { /* Euclid */
		rest = common % b;
		common = b;
	}
	*step = stride / common;
	for (*first = 0; *first < *step && *first < taps; ++*first)
		if ((*first * dilation) % stride == from % stride)
			return (taps - *first + *step - 1) / *step;
	return 0;
}

static int
split(hu_contract *p, const hu_contract *c, size_t i)
{
	size_t phases_h = c->sh < c->h ? c->sh : c->h,
	       phases_w = c->sw < c->w ? c->sw : c->w; /* the others have no pixel */

	if (i >= phases_h * phases_w)
		return 0;
	p->row0 = i / phases_w;
	p->col0 = i % phases_w;
	p->rows = (c->h - p->row0 + c->sh - 1) / c->sh;
	p->cols = (c->w - p->col0 + c->sw - 1) / c->sw;
	p->taps_h = taps(c->kh, p->row0 + (size_t)c->pad_h, c->sh, c->dh, &p->tap_h0, &p->step_h);
	p->taps_w = taps(c->kw, p->col0 + (size_t)c->pad_w, c->sw, c->dw, &p->tap_w0, &p->step_w);
	p->m = c->m / (c->h * c->w) * p->rows * p->cols;
	p->k = p->taps_h * p->taps_w * c->co;
	p->row = split_row;
	p->column = split_column;
	p->place = place;
	return 1;
}

static hu_status
describe(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	HU_TRY(hu_conv_of(x, c, hu_attr_count(c, "height", 0), hu_attr_count(c, "width", 0), in[1].d[0], in[1].d[1]));
	HU_TRY(hu_conv_groups(x, c, in[1].d[2] * x->batches, in[1].d[3]));
	x->m = in[0].d[0] * x->h * x->w;
	x->k = x->kh * x->kw * x->co;
	x->n = x->batch_step = x->ci;
	x->row_step = x->cin;
	x->row = row;
	x->column = column;
	x->column_stride = x->cout;
	x->split = x->sh > 1 || x->sw > 1 ? split : NULL;
	return HU_OK;
}

static void
map(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	describe(x, c, in);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x = { 0 };

	if (in[0].rank != 4 || in[1].rank != 4 || !hu_count(in[0]) || !hu_count(in[1]) ||
		!hu_attr_count(c, "height", 0) || !hu_attr_count(c, "width", 0))
		return hu_fail(
			HU_EINVAL, "conv2d_dx: a gradient and a kernel of rank 4, a height and a width are needed");
	HU_TRY(describe(&x, c, in));
	if (in[0].d[1] != x.ho || in[0].d[2] != x.wo || in[0].d[3] != x.cout)
		return hu_fail(HU_EINVAL, "conv2d_dx: the gradient must be Nx%zux%zux%zu", x.ho, x.wo, x.cout);
	hu_shape y = hu_shape4(in[0].d[0], x.h, x.w, x.cin);
	if (out->rank && !hu_same_shape(*out, y))
		return hu_fail(
			HU_EINVAL, "conv2d_dx: the output must be %zux%zux%zux%zu", y.d[0], y.d[1], y.d[2], y.d[3]);
	*out = y;
	return HU_OK;
}

const hu_op hu_op_conv2d_dx = {
	.name = "conv2d_dx", .summary = "gradient of a convolution for its image",
	.min_in = 2, .max_in = 4, .nout = 1, .attrs = HU_CONV_ATTRS " height width part scaled",
	.cls = HU_CLASS_GEMM, .parity = HU_PARITY_BOUND,
	.family = &hu_family_contract, .contract = &(hu_contract_own){ map, shape },
};
