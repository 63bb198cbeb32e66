/* SPDX-License-Identifier: Apache-2.0
   Operators whose operands hold indexes: taken elements, embeddings and their gradient, cross entropy's gradient,
   products with a matrix for each row, and numbers of groups that share a scale. Indexes are exact. */
#include "lib/judge/kernel/row/lines.h"
#include "lib/judge/kernel/row/contract.h"

#include "lib/base/thread.h"

#include <string.h>

/* Index i of an operand, below n. */
static hu_status
at(const hu_ball_call *c, const hu_balls *index, size_t i, size_t n, size_t *to)
{
	double x = index->b[i].x;

	*to = 0;
	if (!(x >= 0 && x < (double)n) || x != floor(x))
		return hu_ball_misfit(c, "index %zu is %g, where 0 to %zu are possible", i, x, n ? n - 1 : 0);
	*to = (size_t)x;
	return HU_OK;
}

/* y[i] = x[i, index[i]] along the last axis. */
hu_status hu_ball_row_pick(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_pick(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t w = hu_balls_dim(&in[0], -1), k;

	if (!w || in[1].n != in[0].n / w)
		return hu_ball_misfit(c, "%zu indexes are needed, one for each row", w ? in[0].n / w : 0);
	HU_TRY(hu_balls_like(&out[0], &in[1], c->row->name));
	for (size_t i = 0; i < in[1].n; i++) {
		HU_TRY(at(c, &in[1], i, w, &k));
		out[0].b[i] = in[0].b[i * w + k];
	}
	return HU_OK;
}

/* Rows index[i] of a table. */
hu_status hu_ball_row_embedding(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_embedding(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t w = hu_balls_dim(&in[0], -1), rows = w ? in[0].n / w : 0, d[HU_BALLS_RANK], k;

	if (in[1].rank + 1 > HU_BALLS_RANK)
		return hu_ball_misfit(c, "the indexes have too many axes");
	memcpy(d, in[1].d, sizeof d);
	d[in[1].rank] = w;
	HU_TRY(hu_balls_make(&out[0], in[1].rank + 1, d, c->row->name));
	for (size_t i = 0; i < in[1].n; i++) {
		HU_TRY(at(c, &in[1], i, rows, &k));
		memcpy(out[0].b + i * w, in[0].b + k * w, w * sizeof *out[0].b);
	}
	return HU_OK;
}

/* The embedding's gradient: row v is the sum of the rows of dy whose index is v, in the declared order. */
hu_status hu_ball_row_embedding_dw(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_embedding_dw(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t w = hu_balls_dim(&in[0], -1), rows, d[2], k;

	HU_TRY(hu_ball_count(c, "rows", 0, &rows));
	if (!rows || !w || in[1].n != in[0].n / w)
		return hu_ball_misfit(c, "rows=N is needed, and an index for each row of dy");
	d[0] = rows;
	d[1] = w;
	HU_TRY(hu_balls_make(&out[0], 2, d, c->row->name));
	for (size_t v = 0; v < rows; v++)
		for (size_t j = 0; j < w; j++) {
			hu_ball_sum s = { .n = 0 };
			for (size_t i = 0; i < in[1].n; i++)
				if (in[1].b[i].x == (double)v)
					hu_ball_sum_add(&s, in[0].b[i * w + j]);
			out[0].b[v * w + j] = s.n ? hu_ball_sum_end(&s, c->roundoffs) : hu_ball_of(0);
		}
	for (size_t i = 0; i < in[1].n; i++)
		HU_TRY(at(c, &in[1], i, rows, &k));
	return HU_OK;
}

/* p - 1 at the target and p elsewhere, where p are shares; over the number of rows with mean=1. */
hu_status hu_ball_row_minus_target(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_minus_target(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t w = hu_balls_dim(&in[0], -1), rows = w ? in[0].n / w : 0, mean, k;

	HU_TRY(hu_ball_count(c, "mean", 1, &mean));
	if (in[1].n != rows)
		return hu_ball_misfit(c, "%zu targets are needed", rows);
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < rows; i++) {
		HU_TRY(at(c, &in[1], i, w, &k));
		for (size_t j = 0; j < w; j++) {
			hu_ball p = in[0].b[i * w + j];
			if (j == k)
				p = hu_ball_rounded(hu_ball_add(p, hu_ball_of(-1)), c->roundoffs->u, 0);
			if (mean)
				p = hu_ball_rounded(hu_ball_div(p, hu_ball_of((double)rows)), 2 * c->roundoffs->u,
					c->roundoffs->tiny);
			out[0].b[i * w + j] = p;
		}
	}
	return HU_OK;
}

/* y[i] = x[i] w[index[i]]: rows of x [rows, k], matrices w [experts, k, n], or [experts, n, k] with tb=1. */
hu_status hu_ball_row_grouped_matmul(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_grouped_matmul(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	static const int want[3] = { 1, 1, 1 };
	size_t tb, e, k = hu_balls_dim(&in[0], -1), rows = k ? in[0].n / k : 0;

	HU_TRY(hu_ball_count(c, "tb", 0, &tb));
	size_t n = hu_balls_dim(&in[1], tb ? -2 : -1), experts = in[1].rank == 3 ? in[1].d[0] : 0;
	if (!experts || hu_balls_dim(&in[1], tb ? -1 : -2) != k || in[2].n != rows)
		return hu_ball_misfit(
			c, "matrices [experts, k, n] are needed, and the number of one for each of %zu rows", rows);
	size_t d[2] = { rows, n };
	HU_TRY(hu_balls_make(&out[0], 2, d, c->row->name));
	for (size_t i = 0; i < rows; i++) {
		HU_TRY(at(c, &in[2], i, experts, &e));
		hu_contract_balls(out[0].b + i * n, in[0].b + i * k, in[1].b + e * k * n, 1, n, k, 0, tb != 0, want,
			c->roundoffs);
	}
	return HU_OK;
}

/* (q - zero) scale, where `group` elements along the last axis share a scale and a zero; group=0: a row does. block=N:
   squares of N x N share one. */
hu_status hu_ball_row_dequantise(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_dequantise(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t w = hu_balls_dim(&in[0], -1), rows = w ? in[0].n / w : 0, group, block;
	hu_balls zero = c->nin > 2 ? in[2] : (hu_balls){ .b = NULL };

	HU_TRY(hu_ball_count(c, "group", 0, &group));
	HU_TRY(hu_ball_count(c, "block", 0, &block));
	size_t g = block ? block : group ? group : w, across = g ? (w + g - 1) / g : 0, b = block ? block : 1;
	size_t down = (rows + b - 1) / b;
	int one = in[1].n == 1;
	if ((!one && in[1].n != down * across) || (zero.b && zero.n != in[1].n))
		return hu_ball_misfit(c, "%zu scales are needed, or one", down * across);
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		size_t s = one ? 0 : i / w / b * across + i % w / g;
		hu_ball q = in[0].b[i];
		q = zero.b ? hu_ball_rounded(hu_ball_add(q, hu_ball_neg(zero.b[s])), c->roundoffs->u, 0) : q;
		out[0].b[i] = hu_ball_rounded(hu_ball_mul(q, in[1].b[s]), c->roundoffs->u, c->roundoffs->tiny);
	}
	return HU_OK;
}

/* The choice of the k largest of each row: its value is what is chosen from, and choice.h judges the choice. */
hu_status hu_ball_row_topk(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_topk(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t k;

	HU_TRY(hu_ball_count(c, "k", 1, &k));
	if (!k || k > hu_balls_dim(&in[0], -1))
		return hu_ball_misfit(c, "k=%zu of %zu elements", k, hu_balls_dim(&in[0], -1));
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	memcpy(out[0].b, in[0].b, in[0].n * sizeof *out[0].b);
	return HU_OK;
}
