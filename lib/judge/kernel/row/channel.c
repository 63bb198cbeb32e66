/* SPDX-License-Identifier: Apache-2.0
   Arrays [N, C, ...] by their channels: groups of channels, lines of a channel, one number for each channel. */
#include "lib/judge/kernel/graph.h"

#include <string.h>

static hu_status
shaped(const hu_ball_call *c, const hu_balls *x, int rank, const size_t *d, hu_balls *out)
{
	HU_TRY(hu_balls_make(out, rank, d, c->row->name));
	if (out->n != x->n)
		return hu_ball_misfit(c, "%zu elements do not fill %zu", x->n, out->n);
	memcpy(out->b, x->b, x->n * sizeof *out->b);
	return HU_OK;
}

/* [N, C, ...] as [N, groups, all elements of a group]; groups=0: a group for each channel. */
hu_status hu_ball_row_groups(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_groups(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t n, channels = hu_balls_dim(&in[0], 1);

	HU_TRY(hu_ball_count(c, "n", 0, &n));
	n = n ? n : channels;
	if (in[0].rank < 2 || channels % n)
		return hu_ball_misfit(c, "%zu channels have no %zu groups", channels, n);
	size_t d[3] = { in[0].d[0], n, in[0].n / in[0].d[0] / n };
	return shaped(c, &in[0], 3, d, &out[0]);
}

/* The first operand's elements in the second's shape. */
hu_status hu_ball_row_reshape_like(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_reshape_like(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return shaped(c, &in[0], in[1].rank, in[1].d, &out[0]);
}

/* Element i of [N, C, S] is this element of [C, N, S]. */
static size_t
place(size_t i, size_t n, size_t channels, size_t s)
{
	size_t image = i / s / channels, channel = i / s % channels;

	return (channel * n + image) * s + i % s;
}

static void
moved(const hu_balls *x, const hu_ball *from, hu_ball *to, int back)
{
	size_t n = x->d[0], channels = x->d[1], s = x->n / n / channels;

	for (size_t i = 0; i < x->n; i++)
		if (back)
			to[i] = from[place(i, n, channels, s)];
		else
			to[place(i, n, channels, s)] = from[i];
}

/* [N, C, ...] as [C, all elements of a channel], and back to the second operand's shape. */
hu_status hu_ball_row_by_channel(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_by_channel(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t d[2] = { hu_balls_dim(&in[0], 1), 0 };

	if (in[0].rank < 2 || !in[0].n)
		return hu_ball_misfit(c, "an array [N, C, ...] is needed");
	d[1] = in[0].n / d[0];
	HU_TRY(hu_balls_make(&out[0], 2, d, c->row->name));
	moved(&in[0], in[0].b, out[0].b, 0);
	return HU_OK;
}

hu_status hu_ball_row_from_channel(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_from_channel(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	if (in[1].rank < 2 || in[0].n != in[1].n || !in[0].n)
		return hu_ball_misfit(c, "the operands have different numbers of elements");
	HU_TRY(hu_balls_like(&out[0], &in[1], c->row->name));
	moved(&in[1], in[0].b, out[0].b, 1);
	return HU_OK;
}

/* x w[c] + b[c] for channel c; without w or b that step is left out. */
hu_status hu_ball_row_affine(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_affine(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *a = c->roundoffs;
	size_t channels = hu_balls_dim(&in[0], 1), s = in[0].n && in[0].rank > 1 ? in[0].n / in[0].d[0] / channels : 1;
	hu_balls none = { .b = NULL }, w = c->nin > 1 ? in[1] : none, b = c->nin > 2 ? in[2] : none;

	if ((w.b && w.n != channels) || (b.b && b.n != channels))
		return hu_ball_misfit(c, "weight and bias have a number for each of the %zu channels", channels);
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball y = in[0].b[i];
		size_t at = i / s % channels;
		if (w.b)
			y = hu_ball_rounded(hu_ball_mul(y, w.b[at]), a->u, a->tiny);
		if (b.b) /* also where a kernel computes x (w rstd) + (b - mean w rstd) */
			y = hu_ball_rounded(hu_ball_add(y, b.b[at]), 2 * a->u, a->tiny);
		out[0].b[i] = y;
	}
	return HU_OK;
}
