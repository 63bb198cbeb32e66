/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/program_image.h"

#include "lib/op/pool/window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int
hu_program_is_image(const char *op)
{
	return !strcmp(op, "conv2d") || !strcmp(op, "conv2d_dx") || !strcmp(op, "maxpool") || !strcmp(op, "avgpool2d");
}

/* How many elements along an axis its windows reach over, from the first padded one on. */
static size_t
reach(const hu_conv_axis *a)
{
	return (a->out - 1) * a->stride + (a->taps - 1) * a->dilation + 1;
}

/* [N, H, W, C] as [N, C, H', W'] with the padding's elements. */
static hu_status
padded(const hu_balls *x, const hu_conv_axis *h, const hu_conv_axis *w, double fill, hu_balls *y)
{
	size_t d[4] = { x->d[0], x->d[3], reach(h), reach(w) };

	HU_TRY(hu_balls_make(y, 4, d, "a padded image"));
	for (size_t i = 0; i < y->n; i++) {
		size_t col = i % d[3], row = i / d[3] % d[2], c = i / d[3] / d[2] % d[1], n = i / d[3] / d[2] / d[1];
		ptrdiff_t r = (ptrdiff_t)row - h->before, k = (ptrdiff_t)col - w->before;
		int outside = r < 0 || k < 0 || r >= (ptrdiff_t)x->d[1] || k >= (ptrdiff_t)x->d[2];
		y->b[i] = outside ? hu_ball_of(fill)
				  : x->b[((n * x->d[1] + (size_t)r) * x->d[2] + (size_t)k) * x->d[3] + c];
	}
	return HU_OK;
}

/* Filters [kh, kw, C / groups, filters] as [filters, C / groups, kh, kw]. */
static hu_status
filters(const hu_balls *w, hu_balls *y)
{
	size_t d[4] = { w->d[3], w->d[2], w->d[0], w->d[1] };

	HU_TRY(hu_balls_make(y, 4, d, "filters"));
	for (size_t i = 0; i < y->n; i++) {
		size_t k = i % d[3], r = i / d[3] % d[2], c = i / d[3] / d[2] % d[1], f = i / d[3] / d[2] / d[1];
		y->b[i] = w->b[((r * d[3] + k) * d[1] + c) * d[0] + f];
	}
	return HU_OK;
}

/* The channels last again. */
static hu_status
back(const hu_balls *x, hu_balls *y)
{
	size_t d[4] = { x->d[0], x->d[2], x->d[3], x->d[1] };

	HU_TRY(hu_balls_make(y, 4, d, "an image"));
	for (size_t i = 0; i < y->n; i++) {
		size_t c = i % d[3], k = i / d[3] % d[2], r = i / d[3] / d[2] % d[1], n = i / d[3] / d[2] / d[1];
		y->b[i] = x->b[((n * d[3] + c) * d[1] + r) * d[2] + k];
	}
	return HU_OK;
}

/* The mean over the window and its padding becomes that over what counts. */
static void
rescale(const hu_call *c, const hu_pool *p, hu_balls *y)
{
	int padding = hu_attr_num(c, "include_padding", 0) != 0;
	double taps = (double)(p->row.taps * p->col.taps);

	for (size_t i = 0; i < y->n; i++) {
		size_t col = i / p->c % p->col.out, row = i / p->c / p->col.out % p->row.out;
		double by = taps / (double)hu_pool_divisor(p, row, col, padding);
		y->b[i] = by == 1 ? y->b[i] : hu_ball_rounded(hu_ball_mul(y->b[i], hu_ball_of(by)), 0, 0);
	}
}

/* A convolution's gradient for its image, ONNX's ConvTranspose: the whole transposed convolution, of which the image is
   the part from the first pixel that is no padding on, and 0 where no tap reaches. */
static hu_status
transposed(const hu_call *c, const hu_balls *in, hu_balls *y, hu_program_row *row, const void *run)
{
	hu_balls a[2] = { { .b = NULL } }, z = { .b = NULL }, part = { .b = NULL };
	hu_conv_axis h, w;

	HU_TRY(hu_conv_axis_of(&h, c, HU_AXIS_HEIGHT, (size_t)hu_attr_num(c, "height", 0), in[1].d[0]));
	HU_TRY(hu_conv_axis_of(&w, c, HU_AXIS_WIDTH, (size_t)hu_attr_num(c, "width", 0), in[1].d[1]));
	size_t step[4] = { h.stride, w.stride, h.dilation, w.dilation };
	size_t d[4] = { in[0].d[0], in[0].d[3], in[0].d[1], in[0].d[2] };
	hu_status st = hu_balls_make(&a[0], 4, d, "an image");
	for (size_t i = 0; st == HU_OK && i < a[0].n; i++) {
		size_t col = i % d[3], r = i / d[3] % d[2], k = i / d[3] / d[2] % d[1], n = i / d[3] / d[2] / d[1];
		a[0].b[i] = in[0].b[((n * d[2] + r) * d[3] + col) * d[1] + k];
	}
	if (st == HU_OK)
		st = filters(&in[1], &a[1]);
	if (st == HU_OK)
		st = row(run, "conv_transpose", "", (size_t)hu_attr_num(c, "groups", 1), step, a, 2, &z);
	size_t e[4] = { z.d[0], z.d[1], h.n, w.n };
	if (st == HU_OK)
		st = hu_balls_make(&part, 4, e, "an image");
	for (size_t i = 0; st == HU_OK && i < part.n; i++) {
		size_t col = i % e[3] + (size_t)w.before, r = i / e[3] % e[2] + (size_t)h.before, k = i / e[3] / e[2];
		part.b[i] = r < z.d[2] && col < z.d[3] ? z.b[(k * z.d[2] + r) * z.d[3] + col] : hu_ball_of(0);
	}
	if (st == HU_OK)
		st = back(&part, y);
	hu_balls_release(&a[0]);
	hu_balls_release(&a[1]);
	hu_balls_release(&z);
	hu_balls_release(&part);
	return st;
}

hu_status
hu_program_image(const hu_call *c, hu_shape x, const hu_balls *in, hu_balls *y, hu_program_row *row, const void *run)
{
	const char *op = c->op->name;
	int is_conv = !strncmp(op, "conv2d", 6), is_max = !strcmp(op, "maxpool");
	hu_balls a[2] = { { .b = NULL } }, z = { .b = NULL };
	hu_pool p = { .n = 0 };
	char window[64] = "";
	hu_status st;

	if (x.rank != 4 || in[0].rank != 4 || (is_conv && (c->nin != 2 || in[1].rank != 4)) ||
		!isnan(hu_attr_num(c, "part", NAN)))
		return hu_fail(HU_EUNABLE,
			"the program: %s of this kind has no radius here, so that it cannot be judged as a kernel", op);
	if (!strcmp(op, "conv2d_dx"))
		return transposed(c, in, y, row, run);
	if (is_conv) {
		HU_TRY(hu_conv_axis_of(&p.row, c, HU_AXIS_HEIGHT, x.d[1], in[1].d[0]));
		HU_TRY(hu_conv_axis_of(&p.col, c, HU_AXIS_WIDTH, x.d[2], in[1].d[1]));
	} else {
		HU_TRY(hu_pool_of(&p, c, x));
		snprintf(window, sizeof window, "%zux%zu", p.row.taps, p.col.taps);
	}
	size_t step[4] = { p.row.stride, p.col.stride, p.row.dilation, p.col.dilation };
	st = padded(&in[0], &p.row, &p.col, is_max ? -INFINITY : 0, &a[0]);
	if (st == HU_OK && is_conv)
		st = filters(&in[1], &a[1]);
	if (st == HU_OK)
		st = row(run,
			is_conv  ? "conv"
			: is_max ? "maxpool"
				 : "avgpool",
			window, (size_t)hu_attr_num(c, "groups", 1), step, a, is_conv ? 2 : 1, &z);
	if (st == HU_OK)
		st = back(&z, y);
	if (st == HU_OK && !is_conv && !is_max)
		rescale(c, &p, y);
	hu_balls_release(&a[0]);
	hu_balls_release(&a[1]);
	hu_balls_release(&z);
	return st;
}
