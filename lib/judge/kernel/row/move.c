/* SPDX-License-Identifier: Apache-2.0
   Operators that only move elements, and rotary position embeddings. */
#include "lib/judge/kernel/graph.h"
#include "lib/judge/kernel/row/lines.h"

#include <string.h>

hu_status hu_ball_row_transpose(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_transpose(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const char *perm = hu_ball_text(c, "perm", "");
	size_t d[HU_BALLS_RANK], stride[HU_BALLS_RANK], step = 1, from[HU_BALLS_RANK];
	int rank = in[0].rank, last = !*perm; /* the last two axes change places */

	if (!last && (int)strlen(perm) != rank)
		return hu_ball_misfit(c, "perm=%s: a digit for each of the %d axes is needed", perm, rank);
	for (int i = rank - 1; i >= 0; i--) {
		stride[i] = step;
		step *= in[0].d[i];
	}
	for (int i = 0; i < rank; i++) {
		int p = last ? (i == rank - 1 && rank > 1 ? rank - 2 : i == rank - 2 ? rank - 1 : i) : perm[i] - '0';
		if (p < 0 || p >= rank)
			return hu_ball_misfit(c, "perm=%s: the array has axes 0 to %d", perm, rank - 1);
		d[i] = in[0].d[p];
		from[i] = stride[p];
	}
	HU_TRY(hu_balls_make(&out[0], rank, d, c->row->name));
	for (size_t k = 0; k < out[0].n; k++) {
		size_t at = 0, rest = k;
		for (int i = rank - 1; i >= 0; i--) {
			at += rest % d[i] * from[i];
			rest /= d[i];
		}
		out[0].b[k] = in[0].b[at];
	}
	return HU_OK;
}

/* shape=AxBxC, where 0 keeps an axis's length, L is the last axis's, and one - takes what is left. */
hu_status hu_ball_row_reshape(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_reshape(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const char *s = hu_ball_text(c, "shape", "-");
	size_t d[HU_BALLS_RANK], n = 1;
	int rank = 0, open = -1;

	while (*s && rank < HU_BALLS_RANK) {
		size_t v = 0;
		if (*s == '-') {
			open = rank;
			v = 1;
			s++;
		} else if (*s == 'L') {
			v = hu_balls_dim(&in[0], -1);
			s++;
		} else {
			for (; *s >= '0' && *s <= '9'; s++)
				v = v * 10 + (size_t)(*s - '0');
			v = v ? v : hu_balls_dim(&in[0], rank);
		}
		d[rank++] = v;
		n *= v;
		if (*s == 'x')
			s++;
	}
	if (open >= 0 && n && in[0].n % n == 0) {
		d[open] = in[0].n / n;
		n = in[0].n;
	}
	if (*s || n != in[0].n)
		return hu_ball_misfit(c, "%zu elements have no shape %s", in[0].n, hu_ball_text(c, "shape", "-"));
	HU_TRY(hu_balls_make(&out[0], rank, d, c->row->name));
	memcpy(out[0].b, in[0].b, n * sizeof *out[0].b);
	return HU_OK;
}

/* A stretch of an axis: from (negative: from behind), length, step. */
hu_status hu_ball_row_slice(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_slice(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	hu_lines l;
	int axis;
	size_t d[HU_BALLS_RANK], length, parts, part;

	HU_TRY(hu_reduce_lines_of(c, &in[0], &l, &axis));
	HU_TRY(hu_ball_count(c, "parts", 1, &parts));
	HU_TRY(hu_ball_count(c, "part", 0, &part));
	if (!parts || part >= parts || l.n % parts)
		return hu_ball_misfit(c, "part %zu of %zu of an axis of %zu elements", part, parts, l.n);
	length = l.n / parts;
	memcpy(d, in[0].d, sizeof d);
	d[axis] = length;
	HU_TRY(hu_balls_make(&out[0], in[0].rank, d, c->row->name));
	hu_lines to = { l.count, length, l.stride };
	for (size_t i = 0; i < l.count; i++)
		for (size_t k = 0; k < length; k++)
			out[0].b[hu_lines_first(&to, i) + k * l.stride] =
				in[0].b[hu_lines_first(&l, i) + (part * length + k) * l.stride];
	return HU_OK;
}

/* Elements first to first + count - 1 of an axis. */
hu_status hu_ball_row_take(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_take(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	hu_lines l;
	int axis;
	size_t d[HU_BALLS_RANK], first, count;

	HU_TRY(hu_reduce_lines_of(c, &in[0], &l, &axis));
	HU_TRY(hu_ball_count(c, "first", 0, &first));
	HU_TRY(hu_ball_count(c, "count", l.n, &count));
	if (!count || count > l.n || first > l.n - count)
		return hu_ball_misfit(c, "%zu elements from %zu on, of an axis of %zu", count, first, l.n);
	memcpy(d, in[0].d, sizeof d);
	d[axis] = count;
	HU_TRY(hu_balls_make(&out[0], in[0].rank, d, c->row->name));
	hu_lines to = { l.count, count, l.stride };
	for (size_t i = 0; i < l.count; i++)
		for (size_t k = 0; k < count; k++)
			out[0].b[hu_lines_first(&to, i) + k * l.stride] =
				in[0].b[hu_lines_first(&l, i) + (first + k) * l.stride];
	return HU_OK;
}

/* y = x cos + rotated(x) sin along the last axis. Halves: element i is paired with i + n/2; interleaved: 2i with 2i+1.
   cos and sin have the pairs' n/2 numbers, or n with each of them twice. */
hu_status hu_ball_row_rope(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_rope(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *a = c->roundoffs;
	size_t n = hu_balls_dim(&in[0], -1), half = n / 2, width = hu_balls_dim(&in[1], -1), inter;
	hu_balls fit, table = in[0];

	HU_TRY(hu_ball_count(c, "interleaved", 0, &inter));
	if (n % 2 || (width != n && width != half) || in[1].n != in[2].n || in[1].rank != in[2].rank)
		return hu_ball_misfit(c, "cos and sin need %zu or %zu numbers for each row of %zu", half, n, n);
	table.d[table.rank - 1] = width;
	table.n = in[0].n / n * width;
	HU_TRY(hu_balls_broadcast(&fit, &in[1], &table, "rope's cos and sin"));
	if (fit.n != table.n)
		return hu_ball_misfit(c, "cos and sin have more rows than x");
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		size_t row = i / n, j = i % n, pair = inter ? j / 2 : j % half;
		int second = inter ? (int)(j % 2) : j >= half;
		size_t other = inter ? (j ^ 1) : second ? j - half : j + half;
		size_t at = row * width + (width == half ? pair : j);
		hu_ball s = in[2].b[hu_balls_at(&in[2], &table, at)], x = in[0].b[row * n + other];
		hu_ball p = hu_ball_rounded(
			hu_ball_mul(in[0].b[i], in[1].b[hu_balls_at(&in[1], &table, at)]), a->u, a->tiny);
		hu_ball q = hu_ball_rounded(hu_ball_mul(second ? x : hu_ball_neg(x), s), a->u, a->tiny);
		out[0].b[i] = hu_ball_rounded(hu_ball_add(p, q), a->u, 0);
	}
	return HU_OK;
}
