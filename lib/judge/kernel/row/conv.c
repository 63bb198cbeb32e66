/* SPDX-License-Identifier: Apache-2.0
   Convolutions and pooling in one to three dimensions, arrays as PyTorch has them: x [N, C, ...], w [filters, C /
   groups,
   ...], or [C, filters / groups, ...] where transposed. Each output's operands are gathered and multiplied as a matrix
   product. Keys hold for all dimensions alike, or have a number for each, such as stride=2x1. */
#include "lib/judge/kernel/graph.h"
#include "lib/judge/kernel/row/lines.h"
#include "lib/judge/kernel/row/contract.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 3, CHUNK = 4096 };

typedef struct window {
	int dims, transposed, causal;
	size_t n, c, filters, groups, in[DIMS], out[DIMS], k[DIMS], stride[DIMS], pad[DIMS], dilation[DIMS],
		extra[DIMS];
} window;

/* One number for all dimensions, or one for each with x between them. */
static hu_status
numbers(const hu_ball_call *c, const char *key, size_t preset, int dims, size_t to[DIMS])
{
	char text[8];
	snprintf(text, sizeof text, "%zu", preset);
	const char *s = hu_ball_text(c, key, text);
	char *end;

	for (int d = 0; d < dims; d++) {
		to[d] = (size_t)strtoull(s, &end, 10);
		if (end == s || *s == '-' || (*end && *end != 'x'))
			return hu_fail(HU_EINVAL, "%s: %s=%s: a whole number is needed, or %d of them with x between",
				c->row->name, key, hu_ball_text(c, key, text), dims);
		s = *end == 'x' ? end + 1 : s;
	}
	return HU_OK;
}

static hu_status
sizes(const hu_ball_call *c, const hu_balls *x, window *w)
{
	w->dims = x->rank - 2;
	if (w->dims < 1 || w->dims > DIMS)
		return hu_ball_misfit(c, "x needs 3 to 5 axes: [N, C, ...]");
	w->n = x->d[0];
	w->c = x->d[1];
	HU_TRY(numbers(c, "stride", 1, w->dims, w->stride));
	HU_TRY(numbers(c, "padding", 0, w->dims, w->pad));
	HU_TRY(numbers(c, "dilation", 1, w->dims, w->dilation));
	HU_TRY(numbers(c, "output_padding", 0, w->dims, w->extra));
	for (int d = 0; d < DIMS; d++)
		if (d < w->dims)
			w->in[d] = x->d[2 + d];
		else
			w->in[d] = w->out[d] = w->k[d] = w->stride[d] = w->dilation[d] = 1;
	return HU_OK;
}

static hu_status
settle(const hu_ball_call *c, window *w)
{
	for (int d = 0; d < w->dims; d++) {
		size_t span = w->dilation[d] * (w->k[d] - 1) + 1;
		if (w->causal) {
			w->pad[d] = span - 1;
			w->out[d] = w->in[d];
			continue;
		}
		if (!w->stride[d] || !w->dilation[d] || !w->k[d])
			return hu_ball_misfit(c, "stride, dilation and window are 1 or more");
		if (w->transposed ? (w->in[d] - 1) * w->stride[d] + span + w->extra[d] <= 2 * w->pad[d]
				  : w->in[d] + 2 * w->pad[d] < span)
			return hu_ball_misfit(c, "the window is larger than the array");
		w->out[d] = w->transposed ? (w->in[d] - 1) * w->stride[d] + span + w->extra[d] - 2 * w->pad[d]
					  : (w->in[d] + 2 * w->pad[d] - span) / w->stride[d] + 1;
	}
	return HU_OK;
}

/* The place in one image of channel 0 that tap k of output o reads; -1 for none. */
static ptrdiff_t
tap(const window *w, size_t o, size_t k)
{
	size_t at[DIMS], t[DIMS];
	ptrdiff_t place = 0;

	for (int d = DIMS - 1; d >= 0; d--) {
		at[d] = o % w->out[d];
		o /= w->out[d];
		t[d] = k % w->k[d];
		k /= w->k[d];
	}
	for (int d = 0; d < DIMS; d++) {
		ptrdiff_t i;
		if (w->transposed) {
			i = (ptrdiff_t)(at[d] + w->pad[d]) - (ptrdiff_t)(t[d] * w->dilation[d]);
			if (i < 0 || i % (ptrdiff_t)w->stride[d])
				return -1;
			i /= (ptrdiff_t)w->stride[d];
		} else {
			i = (ptrdiff_t)(at[d] * w->stride[d] + t[d] * w->dilation[d]) - (ptrdiff_t)w->pad[d];
		}
		if (i < 0 || i >= (ptrdiff_t)w->in[d])
			return -1;
		place = place * (ptrdiff_t)w->in[d] + i;
	}
	return place;
}

static size_t
volume(const size_t d[DIMS])
{
	return d[0] * d[1] * d[2];
}

/* The filters of a group as a matrix [filters, channels and taps], with the bias, where there is one, as its first
   column: a kernel may begin its sum with it, as with a product by 1, or add it at the end. */
static void
filters_of(const window *w, const hu_balls *b, const hu_balls *bias, size_t group, hu_ball *to)
{
	size_t per = w->filters / w->groups, cg = w->c / w->groups, taps = volume(w->k), first = bias->b != NULL,
	       row = first + cg * taps;

	for (size_t f = 0; f < per; f++) {
		if (first)
			to[f * row] = bias->b[group * per + f];
		for (size_t c = 0; c < cg; c++)
			for (size_t k = 0; k < taps; k++)
				to[f * row + first + c * taps + k] = w->transposed
								      ? b->b[((group * cg + c) * per + f) * taps + k]
								      : b->b[((group * per + f) * cg + c) * taps + k];
	}
}

/* Kernels that pad an image multiply the filter by zeros, which an infinite or undefined filter makes NaN; others leave
   out what lies outside. Both are right, and so nothing is known of the n outputs of a group from `first` on that have
   such a tap outside. */
static void
loosen(const window *w, const hu_ball *filters, size_t biased, size_t first, size_t n, hu_ball *part)
{
	size_t per = w->filters / w->groups, cg = w->c / w->groups, taps = volume(w->k);

	for (size_t i = 0; i < per * cg * taps; i++) {
		if (hu_isfinite(filters[i + biased * (i / (cg * taps) + 1)].x))
			continue;
		for (size_t p = 0; p < n; p++)
			if (tap(w, first + p, i % taps) < 0)
				part[i / (cg * taps) * n + p] = (hu_ball){ 0, INFINITY, 0, 0 };
	}
}

static void
convolve(const hu_ball_call *call, const window *w, const hu_balls *x, const hu_balls *b, const hu_balls *bias,
	hu_ball *y, const int want[3])
{
	size_t per = w->filters / w->groups, cg = w->c / w->groups, taps = volume(w->k), places = volume(w->out),
	       area = volume(w->in), most = places < CHUNK ? places : CHUNK, biased = bias->b != NULL,
	       row = biased + cg * taps;
	hu_ball *f = hu_xmalloc((per * row + 1) * sizeof *f), *col = hu_xmalloc((row * most + 1) * sizeof *col),
		*part = hu_xmalloc((per * most + 1) * sizeof *part);

	for (size_t job = 0; job < w->n * w->groups; job++) {
		size_t image = job / w->groups, group = job % w->groups;
		const hu_ball *from = x->b + (image * w->c + group * cg) * area;
		filters_of(w, b, bias, group, f);
		for (size_t first = 0; first < places; first += most) {
			size_t n = places - first < most ? places - first : most;
			for (size_t p = 0; p < n && biased; p++)
				col[p] = hu_ball_of(1);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n * taps * cg > 16384)
			for (size_t k = 0; k < taps; k++)
				for (size_t p = 0; p < n; p++) {
					ptrdiff_t at = tap(w, first + p, k);
					for (size_t c = 0; c < cg; c++)
						col[(biased + c * taps + k) * n + p] =
							at < 0 ? hu_ball_of(0) : from[c * area + (size_t)at];
				}
			hu_contract_balls(part, f, col, per, n, row, 0, 0, want, call->roundoffs);
			loosen(w, f, biased, first, n, part);
			for (size_t q = 0; q < per; q++)
				memcpy(y + (image * w->filters + group * per + q) * places + first, part + q * n,
					n * sizeof *y);
		}
	}
	free(f);
	free(col);
	free(part);
}

static hu_status
make(const hu_ball_call *c, const window *w, size_t channels, hu_balls *out)
{
	size_t d[2 + DIMS] = { w->n, channels, w->out[0], w->out[1], w->out[2] };

	return hu_balls_make(out, 2 + w->dims, d, c->row->name);
}

static hu_status
conv(const hu_ball_call *c, const hu_balls *in, hu_balls *out, int transposed)
{
	window w = { .transposed = transposed };
	int want[3] = { 0, 0, 0 };
	hu_balls bias = c->nin > 2 ? in[2] : (hu_balls){ .b = NULL };

	HU_TRY(sizes(c, &in[0], &w));
	size_t causal;

	HU_TRY(hu_ball_count(c, "groups", 1, &w.groups));
	HU_TRY(hu_ball_count(c, "causal", 0, &causal));
	w.causal = causal != 0;
	w.groups = w.groups ? w.groups : w.c; /* 0: depthwise */
	if (in[1].rank != in[0].rank || !w.groups || w.c % w.groups)
		return hu_ball_misfit(c, "the filters need as many axes as x, and groups divide the %zu channels", w.c);
	for (int d = 0; d < w.dims; d++)
		w.k[d] = in[1].d[2 + d];
	w.filters = transposed ? in[1].d[1] * w.groups : in[1].d[0];
	if ((transposed ? in[1].d[0] != w.c : in[1].d[1] != w.c / w.groups) || w.filters % w.groups)
		return hu_ball_misfit(c, "the filters do not fit %zu channels in %zu groups", w.c, w.groups);
	if (bias.b && bias.n != w.filters)
		return hu_ball_misfit(c, "the bias needs %zu numbers", w.filters);
	HU_TRY(settle(c, &w));
	HU_TRY(make(c, &w, w.filters, &out[0]));
	for (int k = 0; k < 2; k++)
		if (!hu_balls_exact(&in[k]))
			want[0] = want[1] = want[2] = 1;
	if (bias.b && !hu_balls_exact(&bias))
		want[0] = want[1] = want[2] = 1;
	convolve(c, &w, &in[0], &in[1], &bias, out[0].b, want);
	for (size_t i = 0; bias.b && i < out[0].n; i++) /* the sum with the bias, in `compute` */
		out[0].b[i] = hu_ball_rounded(out[0].b[i], c->roundoffs->u, 0);
	return HU_OK;
}

hu_status hu_ball_row_conv(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_conv(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return conv(c, in, out, 0);
}

hu_status hu_ball_row_conv_transpose(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_conv_transpose(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return conv(c, in, out, 1);
}

/* what: 0 the largest, 1 the mean over the window, padding included, 2 over what is not padding. */
static hu_status
pool(const hu_ball_call *c, const hu_balls *in, hu_balls *out, int what)
{
	window w = { .groups = 1 };
	size_t size[DIMS];
	const char *given = hu_ball_text(c, "stride", "");

	HU_TRY(sizes(c, &in[0], &w));
	HU_TRY(numbers(c, "window", 2, w.dims, size));
	for (int d = 0; d < w.dims; d++) {
		w.k[d] = size[d];
		w.stride[d] = *given ? w.stride[d] : size[d];
	}
	HU_TRY(settle(c, &w));
	HU_TRY(make(c, &w, w.c, &out[0]));
	size_t places = volume(w.out), taps = volume(w.k), area = volume(w.in);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (out[0].n * taps > 4096)
	for (size_t i = 0; i < out[0].n; i++) {
		const hu_ball *from = in[0].b + i / places * area;
		hu_ball_sum s = { .n = 0 };
		hu_ball top = hu_ball_of(-INFINITY);
		for (size_t k = 0; k < taps; k++) {
			ptrdiff_t at = tap(&w, i % places, k);
			if (at < 0)
				continue;
			hu_ball b = from[at];
			hu_ball_sum_add(&s, b);
			top = (hu_ball){ isnan(b.x) || isnan(top.x) ? NAN : fmax(top.x, b.x), fmax(top.r, b.r),
				fmax(top.v, b.v), fmax(top.c, b.c) };
		}
		hu_ball mean = hu_ball_div(
			hu_ball_sum_end(&s, c->roundoffs), hu_ball_of(what == 1 ? (double)taps : (double)s.n));
		out[0].b[i] = what ? hu_ball_rounded(mean, 2 * c->roundoffs->u, c->roundoffs->tiny) : top;
	}
	return HU_OK;
}

hu_status hu_ball_row_maxpool(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_maxpool(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return pool(c, in, out, 0);
}

hu_status hu_ball_row_avgpool(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_avgpool(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t counted;

	HU_TRY(hu_ball_count(c, "count_padding", 1, &counted));
	return pool(c, in, out, counted ? 1 : 2);
}
