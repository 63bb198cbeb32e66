/* SPDX-License-Identifier: Apache-2.0
   Whether errors have mean zero, which probabilistic bounds assume. d = got - reference is added up along
   directions, over the model's variance; T is that of lib/judge/verdict/bias.h. Clusters are rows, or columns or
   elements where there are few rows. An alarm needs a bias against both the exact value rounded once and the
   emulation of the declared stores: inputs of 16 bits repeat, and so do their rounding errors, so that one
   reference alone condemns right kernels. */
#include "lib/judge/kernel/verdict_sums.h"

#include "lib/base/mem.h"
#include "lib/judge/verdict/bias.h"

#include <stdlib.h>

enum { CONSTANT, AWAY, GAIN, DIRECTIONS };
/* T is at most the root of the number of clusters; more than MOST_CLUSTERS rows are taken together, neighbour by
   neighbour, so that sums stay small beside the result. */
enum { CLUSTERS = 64, MOST_CLUSTERS = 1 << 16 };

static const char *const names[DIRECTIONS] = { "constant", "away from zero", "in proportion" };

/* The direction's component for an element: half an ulp, towards the element's sign, or the element itself. */
static double
component(int direction, double x, double h)
{
	double sign = x > 0 ? 1 : x < 0 ? -1 : 0;

	return direction == CONSTANT ? h : direction == AWAY ? sign * h : x;
}

/* Sums of one direction against one reference: by row and column, or by ranges of those where they are many. reach is
   how far the sum may be moved, down and up, by what the computation errs. */
typedef struct lines {
	double reach[2], each, *row, *column;
} lines;

struct hu_bias_lines {
	size_t width, rows, row_clusters, column_clusters, n;
	hu_format f;
	double lambda, mean[2]; /* of errors, and of errors away from zero */
	lines of[DIRECTIONS][2];
};

hu_bias_lines *
hu_bias_lines_begin(size_t n, size_t width, hu_format f, double lambda)
{
	hu_bias_lines *b = hu_xcalloc(1, sizeof *b);

	b->width = width ? width : 1;
	b->rows = width ? n / width : 0;
	b->row_clusters = b->rows < MOST_CLUSTERS ? b->rows : MOST_CLUSTERS;
	b->column_clusters = b->width < MOST_CLUSTERS ? b->width : MOST_CLUSTERS;
	b->f = f;
	b->lambda = lambda;
	for (int k = 0; k < DIRECTIONS; k++)
		for (int r = 0; r < 2; r++) {
			b->of[k][r].row = hu_xcalloc(b->row_clusters + 1, sizeof(double));
			b->of[k][r].column = hu_xcalloc(b->column_clusters + 1, sizeof(double));
		}
	return b;
}

/* How far a value that rounds to `near` is moved, down and up, where it errs by at most `most` before its last store.
   Values lie near halves of an ulp more often than by chance where operands of few bits meet factors such as 0.1; then
   a small error moves many results by an ulp. */
static void
moves(double reference, double near, double most, hu_format f, double by[2])
{
	double down = near - hu_round(reference - most, f, HU_RNE, 0, 0),
	       up = hu_round(reference + most, f, HU_RNE, 0, 0) - near;

	by[0] = hu_isfinite(down) ? down : most < INFINITY ? most : 0;
	by[1] = hu_isfinite(up) ? up : most < INFINITY ? most : 0;
}

/* Weights are 1 over the model's variance, so that elements where other stores err by much more than the last one
   count as little as they say. */
void
hu_bias_lines_add(hu_bias_lines *b, size_t at, double got, hu_ball x, hu_ball declared, hu_ball compute)
{
	double h = hu_ball_half_ulp(x.x, b->f), model = (x.v + h * h) / 3 + x.c * x.c;
	double most = fmin(compute.r, b->lambda * (sqrt(compute.v) + compute.c)), reference[2] = { x.x, declared.x };
	double ulps = (got - x.x) / (2 * h);
	size_t i = at / b->width, j = at % b->width;

	if (hu_isfinite(ulps)) {
		b->mean[0] += ulps;
		b->mean[1] += x.x > 0 ? ulps : -ulps;
		b->n++;
	}
	if (i >= b->rows || !(x.r < INFINITY))
		return;
	if (b->row_clusters < b->rows)
		i = (size_t)((__uint128_t)i * b->row_clusters / b->rows);
	if (b->column_clusters < b->width)
		j = (size_t)((__uint128_t)j * b->column_clusters / b->width);
	for (int r = 0; r < 2; r++) {
		double near = hu_round(reference[r], b->f, HU_RNE, 0, 0), d = got - near, by[2];
		moves(reference[r], near, most, b->f, by);
		for (int k = 0; k < DIRECTIONS && hu_isfinite(d); k++) {
			lines *to = &b->of[k][r];
			double w = component(k, x.x, h) / model;
			if (!hu_isfinite(w))
				continue;
			to->row[i] += d * w;
			to->column[j] += d * w;
			to->each += d * w * (d * w);
			to->reach[0] += by[w < 0] * fabs(w);
			to->reach[1] += by[w > 0] * fabs(w);
		}
	}
}

/* T of one direction against one reference; *sum is the weighted sum. */
static double
statistic(const hu_bias_lines *b, const lines *of, double *sum)
{
	double all = 0, by_row = 0, by_column = 0;

	for (size_t i = 0; i < b->row_clusters; i++) {
		all += of->row[i];
		by_row += of->row[i] * of->row[i];
	}
	for (size_t j = 0; j < b->column_clusters; j++)
		by_column += of->column[j] * of->column[j];
	*sum = all;
	return hu_bias_statistic(all,
		b->rows >= CLUSTERS    ? by_row
		: b->width >= CLUSTERS ? by_column
				       : of->each,
		of->reach[all > 0]);
}

hu_bias
hu_bias_lines_end(hu_bias_lines *b)
{
	hu_bias found = { names[CONSTANT], 0, 0, 0, 0 };

	for (int k = 0; k < DIRECTIONS; k++) {
		double p, q, s = statistic(b, &b->of[k][0], &p), t = statistic(b, &b->of[k][1], &q);
		double least = p * q > 0 ? fmin(s, t) : 0;
		if (k == 0 || least > found.t)
			found = (hu_bias){ names[k], 0, least, s, t };
		for (int r = 0; r < 2; r++) {
			free(b->of[k][r].row);
			free(b->of[k][r].column);
		}
	}
	found.mean_ulps = b->n ? b->mean[found.direction != names[CONSTANT]] / (double)b->n : 0;
	free(b);
	return found;
}

hu_bias
hu_kernel_bias(const double *got, const hu_balls *x, const hu_balls *declared, const hu_balls *compute, hu_format f,
	double lambda)
{
	hu_bias_lines *b = hu_bias_lines_begin(x->n, hu_balls_dim(x, -1), f, lambda);

	for (size_t i = 0; i < x->n; i++)
		hu_bias_lines_add(b, i, got[i], x->b[i], declared->b[i], compute ? compute->b[i] : hu_ball_of(0));
	return hu_bias_lines_end(b);
}
