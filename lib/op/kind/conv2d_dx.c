/* SPDX-License-Identifier: Apache-2.0
   conv2d_dx dy, w [, sy, sw] -> dx[N,height,width,C]; attributes of lib/op/contract/conv.h, height, width, part,
   scaled. The index k of the sum is (kernel row, kernel column, output channel of the group), over the taps that the
   stride does not skip for the pixel. A batch of the contraction is a group, a share of it the pixels of one residue
   class. */
#include "lib/op/contract/contract.h"
#include "lib/op/sum_call.h"
#include "lib/op/contract/conv.h"

/* Pixel (r, q) of image n of the gradient, output channels from j on of the group. */
static hu_stretch
pixel(const hu_contract *c, size_t n, ptrdiff_t r, ptrdiff_t q, size_t j)
{
	if (r < 0 || q < 0 || r >= (ptrdiff_t)c->ho || q >= (ptrdiff_t)c->wo)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, c->co - j };
	return (hu_stretch){ (((ptrdiff_t)(n * c->ho) + r) * (ptrdiff_t)c->wo + q) * (ptrdiff_t)c->cout +
				     (ptrdiff_t)(c->batch * c->co + j),
		1, c->co - j };
}

/* The kernel's row and column of the share's tap t. */
static size_t tap_row(const hu_contract *c, size_t t) { return c->tap_h0 + t / c->taps_w * c->step_h; }
static size_t tap_column(const hu_contract *c, size_t t) { return c->tap_w0 + t % c->taps_w * c->step_w; }

static hu_stretch
row(const hu_contract *c, size_t m, size_t k)
{
	size_t n = m / (c->rows * c->cols), i = m / c->cols % c->rows, l = m % c->cols, j = k % c->co, tap = k / c->co;

	/* The distance from the tap to the pixel, which the strides divide. */
	ptrdiff_t r = (ptrdiff_t)c->row0 + c->pad_h - (ptrdiff_t)(tap_row(c, tap) * c->dh),
		  q = (ptrdiff_t)c->col0 + c->pad_w - (ptrdiff_t)(tap_column(c, tap) * c->dw);
	return pixel(c, n, (ptrdiff_t)i + r / (ptrdiff_t)c->sh, (ptrdiff_t)l + q / (ptrdiff_t)c->sw, j);
}

/* The map in two halves, with terms one tap at a time. */
static void
spots(const hu_contract *c, size_t m, size_t rows, hu_spot *s)
{
	size_t l = m % c->cols, line = m / c->cols, i = line % c->rows, n = line / c->rows;

	for (size_t j = 0; j < rows; j++) {
		s[j] = (hu_spot){ (ptrdiff_t)i, (ptrdiff_t)l,
			(ptrdiff_t)(((n * c->ho + i) * c->wo + l) * c->cout + c->batch * c->co), 0 };
		if (++l < c->cols)
			continue;
		l = 0;
		n += ++i == c->rows;
		i = i == c->rows ? 0 : i;
	}
}

static hu_spot
term(const hu_contract *c, size_t k)
{
	size_t tap = k / c->co, channel = k % c->co;
	ptrdiff_t y = ((ptrdiff_t)c->row0 + c->pad_h - (ptrdiff_t)(tap_row(c, tap) * c->dh)) / (ptrdiff_t)c->sh,
		  x = ((ptrdiff_t)c->col0 + c->pad_w - (ptrdiff_t)(tap_column(c, tap) * c->dw)) / (ptrdiff_t)c->sw;

	return (hu_spot){ y, x, (y * (ptrdiff_t)c->wo + x) * (ptrdiff_t)c->cout + (ptrdiff_t)channel,
		c->co - channel };
}

static size_t
column(const hu_contract *c, size_t k)
{
	size_t tap = tap_row(c, k / c->co) * c->kw + tap_column(c, k / c->co);

	return tap * c->ci * c->cout + c->batch * c->co + k % c->co;
}

static size_t
place(const hu_contract *c, size_t m)
{
	size_t n = m / (c->rows * c->cols), i = m / c->cols % c->rows, l = m % c->cols;

	return (n * c->h + c->row0 + i * c->sh) * c->w + c->col0 + l * c->sw;
}

static hu_conv_axis
axis_h(const hu_contract *x)
{
	return (hu_conv_axis){ x->h, x->kh, x->sh, x->dh, x->ho, x->pad_h };
}

static hu_conv_axis
axis_w(const hu_contract *x)
{
	return (hu_conv_axis){ x->w, x->kw, x->sw, x->dw, x->wo, x->pad_w };
}

/* Share i: the pixels of one residue class of rows and one of columns. */
static void
share(hu_contract *x, size_t i)
{
	hu_conv_axis v = axis_h(x), q = axis_w(x);
	size_t across = hu_conv_classes(&q);
	hu_conv_class r = hu_conv_class_of(&v, i / across), c = hu_conv_class_of(&q, i % across);

	x->row0 = i / across;
	x->col0 = i % across;
	x->rows = r.pixels;
	x->cols = c.pixels;
	x->taps_h = r.taps;
	x->taps_w = c.taps;
	x->tap_h0 = r.tap0;
	x->tap_w0 = c.tap0;
	x->step_h = r.step;
	x->step_w = c.step;
	x->m = x->images * x->rows * x->cols;
	x->k = x->taps_h * x->taps_w * x->co;
}

static size_t
owner(const hu_contract *c, size_t m, size_t *i)
{
	size_t n = m / (c->h * c->w), y = m / c->w % c->h, z = m % c->w;
	hu_contract x = *c;
	hu_conv_axis q = axis_w(c);

	*i = y % c->sh * hu_conv_classes(&q) + z % c->sw;
	share(&x, *i);
	return (n * x.rows + y / c->sh) * x.cols + z / c->sw;
}

static hu_status
describe(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	HU_TRY(hu_conv_of(x, c, hu_attr_count(c, "height", 0), hu_attr_count(c, "width", 0), in[1].d[0], in[1].d[1]));
	HU_TRY(hu_conv_groups(x, c, in[1].d[2] * x->batches, in[1].d[3]));
	x->images = in[0].d[0];
	x->n = x->batch_step = x->ci;
	x->row_step = x->cin;
	x->row = row;
	x->spots = spots;
	x->term = term;
	x->high = x->ho;
	x->wide = x->wo;
	x->stride = 1;
	x->column = column;
	x->column_stride = x->cout;
	x->place = place;
	x->share = share;
	x->owner = owner;
	hu_conv_axis v = axis_h(x), q = axis_w(x);
	x->shares = hu_conv_classes(&v) * hu_conv_classes(&q);
	share(x, 0);
	if (x->shares > 1) { /* a single share is the whole product */
		x->m = x->images * x->h * x->w;
		x->k = hu_conv_most_taps(&v) * hu_conv_most_taps(&q) * x->co;
	}
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x = { 0 };

	if (in[0].rank != 4 || in[1].rank != 4 || !hu_count(in[0]) || !hu_count(in[1]) ||
		!hu_attr_count(c, "height", 0) || !hu_attr_count(c, "width", 0))
		return hu_fail(
			HU_EINVAL,
			"conv2d_dx: the gradient and the kernel must have rank 4, and height and width must be set");
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

/* As many multiply-adds as the shares have together, which may be too many shares to visit. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	hu_contract x = { 0 };

	(void)out;
	HU_ASSERT(describe(&x, c, in) == HU_OK);
	hu_conv_axis v = axis_h(&x), q = axis_w(&x);
	k->macs = (double)x.images * (double)x.cin * (double)x.co * hu_conv_pairs(&v) * hu_conv_pairs(&q);
	k->flops = 2 * k->macs;
}

/* As a forward operator it is the transposed convolution. */
static const hu_grad grad[] = {
	{ "conv2d", "d0 i1", "i0", NULL, NULL },
	{ "conv2d_dw", "d0 i0", "i1", "kh=i1.0 kw=i1.1", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

/* The first tap meets the last pixel. */
static size_t
sum_place(const hu_sum_call *s, int j, size_t k, size_t c)
{
	size_t edge = hu_sum_call_edge(s->n), channels = s->n / (edge * edge), tap = k / channels,
	       channel = k % channels;

	return j == 0 ? (edge * edge - 1 - tap) * channels + channel : (tap * HU_SUM_COLUMNS + c) * channels + channel;
}

static void
sum_call(size_t n, hu_sum_call *s)
{
	size_t edge = hu_sum_call_edge(n), channels = n / (edge * edge);

	*s = (hu_sum_call){ .n = n, .nin = 2,
		.in = { hu_shape4(1, edge, edge, channels), hu_shape4(edge, edge, HU_SUM_COLUMNS, channels) },
		.out = hu_shape4(1, edge, edge, HU_SUM_COLUMNS), .copies = { 1, HU_SUM_COLUMNS },
		.attr = { { "height", (double)edge }, { "width", (double)edge } },
		.at = edge * edge / 2 * HU_SUM_COLUMNS, .equal = HU_SUM_COLUMNS, .place = sum_place };
}

const hu_op hu_op_conv2d_dx = {
	.name = "conv2d_dx", .summary = "transposed convolution: gradient of a convolution for its image",
	.min_in = 2, .max_in = 4, .nout = 1, .attrs = HU_CONV_ATTRS " height width part scaled",
	.cls = HU_CLASS_GEMM, .parity = HU_PARITY_BOUND,
	.own = { .cost = cost, .sum_call = sum_call },
	.family = &hu_family_contract, .contract = &(hu_contract_own){ .map = describe, .shape = shape },
	.grad = grad,
};
