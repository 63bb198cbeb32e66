/* SPDX-License-Identifier: Apache-2.0
   conv2d x[N,H,W,C], w[kh,kw,C/groups,co] [, sx, sw] -> y; attributes of lib/op/contract/conv.h, part, scaled,
   order. The index k of the sum is (kernel row, kernel column, input channel of the group), with order=1 (input
   channel, kernel row, kernel column), as in libraries that unroll an image; a batch of the contraction is a group. */
#include "lib/op/contract/contract.h"
#include "lib/op/sum_call.h"
#include "lib/op/contract/conv.h"
#include "lib/op/contract/depthwise/depthwise.h"

/* Decomposes the output's pixel m and the index k into image, tap and channel. */
typedef struct at { size_t n, line, j, channel; ptrdiff_t y, x; } at;

static at
locate(const hu_contract *c, size_t m, size_t k)
{
	size_t n = m / (c->ho * c->wo), r = m / c->wo % c->ho, col = m % c->wo, line = c->kw * c->ci, i = k / line,
	       j = k % line;

	return (at){ n, line, j, j % c->ci, (ptrdiff_t)(r * c->sh + i * c->dh) - c->pad_h,
		(ptrdiff_t)(col * c->sw + j / c->ci * c->dw) - c->pad_w };
}

static ptrdiff_t
offset(const hu_contract *c, const at *p)
{
	return ((ptrdiff_t)(p->n * c->h + (size_t)p->y) * (ptrdiff_t)c->w + p->x) * (ptrdiff_t)c->cin +
	       (ptrdiff_t)(c->batch * c->ci + p->channel);
}

/* Within a kernel row, taps and channels are contiguous in the image; outside it they are +0. */
static hu_stretch
row(const hu_contract *c, size_t m, size_t k)
{
	at p = locate(c, m, k);
	size_t rest = p.line - p.j;

	if (p.y < 0 || p.y >= (ptrdiff_t)c->h || p.x >= (ptrdiff_t)c->w)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, rest };
	if (p.x < 0) {
		size_t out = (size_t)(-p.x) * c->ci - p.channel;
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, out < rest ? out : rest };
	}
	size_t inside = ((size_t)((ptrdiff_t)c->w - p.x)) * c->ci - p.channel;
	return (hu_stretch){ offset(c, &p), 1, inside < rest ? inside : rest };
}

/* The same with a dilation or groups, when only the channels of one tap are contiguous. */
static hu_stretch
row_apart(const hu_contract *c, size_t m, size_t k)
{
	at p = locate(c, m, k);

	if (p.y < 0 || p.y >= (ptrdiff_t)c->h)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, p.line - p.j };
	if (p.x < 0 || p.x >= (ptrdiff_t)c->w)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, c->ci - p.channel };
	return (hu_stretch){ offset(c, &p), 1, c->ci - p.channel };
}

/* The same where a group has one channel: taps of a kernel row lie at the distance of two of them, all those within the
   image one stretch. Numbers of 32 bits divide several times as fast, which counts where a stretch is as short. */
static hu_stretch
row_channel(const hu_contract *c, size_t m, size_t k)
{
	uint32_t wo = (uint32_t)c->wo, ho = (uint32_t)c->ho, kw = (uint32_t)c->kw;
	uint32_t line = (uint32_t)m / wo, col = (uint32_t)m - line * wo, image = line / ho, r = line - image * ho;
	uint32_t i = (uint32_t)k / kw, j = (uint32_t)k - i * kw;
	ptrdiff_t y = (ptrdiff_t)(r * c->sh + i * c->dh) - c->pad_h, step = (ptrdiff_t)c->dw,
		  x = (ptrdiff_t)(col * c->sw + j * c->dw) - c->pad_w, w = (ptrdiff_t)c->w,
		  outside = x < 0 ? -x : w - x;

	if (y < 0 || y >= (ptrdiff_t)c->h || x >= w)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, kw - j };
	size_t n = (size_t)(step == 1 ? outside : (outside + step - 1) / step);
	n = n < kw - j ? n : kw - j;
	if (x < 0)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, n };
	return (hu_stretch){ (((ptrdiff_t)image * (ptrdiff_t)c->h + y) * w + x) * (ptrdiff_t)c->cin +
				     (ptrdiff_t)c->batch,
		c->dw * c->cin, n };
}

/* The map in two halves, with terms one tap at a time. */
static void
spots(const hu_contract *c, size_t m, size_t rows, hu_spot *s)
{
	size_t col = m % c->wo, line = m / c->wo, r = line % c->ho, n = line / c->ho;

	for (size_t i = 0; i < rows; i++) {
		ptrdiff_t y = (ptrdiff_t)(r * c->sh) - c->pad_h, x = (ptrdiff_t)(col * c->sw) - c->pad_w;
		s[i] = (hu_spot){ y, x,
			(((ptrdiff_t)(n * c->h) + y) * (ptrdiff_t)c->w + x) * (ptrdiff_t)c->cin +
				(ptrdiff_t)(c->batch * c->ci), 0 };
		if (++col < c->wo)
			continue;
		col = 0;
		n += ++r == c->ho;
		r = r == c->ho ? 0 : r;
	}
}

static hu_spot
term(const hu_contract *c, size_t k)
{
	size_t tap = k / c->ci, channel = k % c->ci, y = tap / c->kw * c->dh, x = tap % c->kw * c->dw;

	return (hu_spot){ (ptrdiff_t)y, (ptrdiff_t)x, (ptrdiff_t)((y * c->w + x) * c->cin + channel), c->ci - channel };
}

/* With order=1 the index k is (input channel, kernel row, kernel column). Taps of a kernel row lie a dilation apart. */
static at
locate_tap(const hu_contract *c, size_t m, size_t k)
{
	size_t taps = c->kh * c->kw, tap = k % taps, j = tap % c->kw, col = m % c->wo, r = m / c->wo % c->ho;

	return (at){ m / (c->ho * c->wo), c->kw, j, k / taps, (ptrdiff_t)(r * c->sh + tap / c->kw * c->dh) - c->pad_h,
		(ptrdiff_t)(col * c->sw + j * c->dw) - c->pad_w };
}

static hu_stretch
row_taps(const hu_contract *c, size_t m, size_t k)
{
	at p = locate_tap(c, m, k);
	size_t rest = p.line - p.j;
	ptrdiff_t step = (ptrdiff_t)c->dw, left = p.x < 0 ? -p.x : (ptrdiff_t)c->w - p.x;

	if (p.y < 0 || p.y >= (ptrdiff_t)c->h || left <= 0)
		return (hu_stretch){ HU_TAP_OUTSIDE, 1, rest };
	size_t n = (size_t)((left + step - 1) / step);
	n = n < rest ? n : rest;
	return p.x < 0 ? (hu_stretch){ HU_TAP_OUTSIDE, 1, n } : (hu_stretch){ offset(c, &p), c->dw * c->cin, n };
}

static hu_spot
term_tap(const hu_contract *c, size_t k)
{
	size_t taps = c->kh * c->kw, tap = k % taps, y = tap / c->kw * c->dh, x = tap % c->kw * c->dw;

	return (hu_spot){ (ptrdiff_t)y, (ptrdiff_t)x, (ptrdiff_t)((y * c->w + x) * c->cin + k / taps),
		c->kw - tap % c->kw };
}

static size_t
filter_tap(const hu_contract *c, size_t k)
{
	size_t taps = c->kh * c->kw;

	return (k % taps * c->ci + k / taps) * c->cout + c->batch * c->co;
}

static hu_status
describe(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	HU_TRY(hu_conv_of(x, c, in[0].d[1], in[0].d[2], in[1].d[0], in[1].d[1]));
	HU_TRY(hu_conv_groups(x, c, in[0].d[3], in[1].d[3]));
	x->m = in[0].d[0] * x->ho * x->wo;
	x->k = x->kh * x->kw * x->ci;
	x->row = x->dw == 1 && x->batches == 1                            ? row
		 : x->ci == 1 && x->m <= UINT32_MAX && x->k <= UINT32_MAX ? row_channel
									  : row_apart;
	x->spots = spots;
	x->term = term;
	x->high = x->h;
	x->wide = x->w;
	x->stride = 1;
	hu_conv_filters(x, in[0].d[0]);
	if (x->ci > 1 && x->kh * x->kw > 1 && hu_attr_count(c, "order", 0) == 1) {
		x->row = row_taps;
		x->term = term_tap;
		x->column = filter_tap;
		x->step = x->dw;
		x->stride = x->dw * x->cin;
	}
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x = { 0 };

	if (in[0].rank != 4 || in[1].rank != 4 || !hu_count(in[0]) || !hu_count(in[1]))
		return hu_fail(HU_EINVAL, "conv2d: the image and the kernel must have rank 4");
	HU_TRY(describe(&x, c, in));
	if (x.ci != in[1].d[2])
		return hu_fail(HU_EINVAL,
			"conv2d: the image has %zu channels, %zu a group (groups=%zu), and the kernel takes %zu",
			in[0].d[3], x.ci, x.batches, in[1].d[2]);
	hu_shape y = hu_shape4(in[0].d[0], x.ho, x.wo, x.cout);
	if (out->rank && !hu_same_shape(*out, y))
		return hu_fail(HU_EINVAL, "conv2d: the output must be %zux%zux%zux%zu", y.d[0], y.d[1], y.d[2], y.d[3]);
	*out = y;
	return HU_OK;
}

/* The window of the middle pixel lies within the image, so that it meets every tap. */
static void
sum_call(size_t n, hu_sum_call *s)
{
	size_t edge = hu_sum_call_edge(n), channels = n / (edge * edge);

	*s = (hu_sum_call){ .n = n, .nin = 2,
		.in = { hu_shape4(1, edge, edge, channels), hu_shape4(edge, edge, channels, HU_SUM_COLUMNS) },
		.out = hu_shape4(1, edge, edge, HU_SUM_COLUMNS), .copies = { 1, HU_SUM_COLUMNS },
		.at = edge * edge / 2 * HU_SUM_COLUMNS, .equal = HU_SUM_COLUMNS, .place = hu_sum_call_place };
}

static const hu_grad grad[] = {
	{ "conv2d_dx", "d0 i1", "i0", "height=i0.1 width=i0.2", NULL },
	{ "conv2d_dw", "i0 d0", "i1", "kh=i1.0 kw=i1.1", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_conv2d = {
	.name = "conv2d", .summary = "convolution, NHWC; SAME padding or your own",
	.min_in = 2, .max_in = 4, .nout = 1, .attrs = HU_CONV_ATTRS " part scaled order",
	.cls = HU_CLASS_GEMM, .parity = HU_PARITY_BOUND,
	.own = { .sum_call = sum_call, .emulate_some = hu_depthwise_some, .swamping = hu_depthwise_swamping },
	.family = &hu_family_contract,
	.contract = &(hu_contract_own){ .map = describe, .shape = shape, .whole = hu_depthwise,
		.certified = hu_depthwise_enclose },
	.grad = grad,
};
