/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/choice.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Whether the choice marked in chosen is certainly not the k largest: min over chosen (x + r) < max over the rest
   (x - r). */
static int
is_wrong(const hu_ball *x, const char *chosen, size_t w)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t j = 0; j < w; j++)
		if (chosen[j])
			least = fmin(least, x[j].x + x[j].r);
		else
			most = fmax(most, x[j].x - x[j].r);
	return least < most;
}

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Whether the radii leave the choice of k open: an element among the k largest may be below one that is not. line has
   room for w doubles. */
static int
is_open(const hu_ball *x, size_t w, size_t k, double *line)
{
	double least = INFINITY, most = -INFINITY;
	size_t n = 0;

	if (k >= w)
		return 0;
	for (size_t j = 0; j < w; j++)
		line[j] = x[j].x;
	qsort(line, w, sizeof *line, descending);
	if (line[k - 1] == line[k]) /* a tie */
		return 1;
	for (size_t j = 0; j < w; j++)
		if (x[j].x >= line[k - 1]) {
			least = fmin(least, x[j].x - x[j].r);
			n++;
		} else {
			most = fmax(most, x[j].x + x[j].r);
		}
	return n != k || least <= most;
}

void
hu_choice_judge(hu_choice *d, const double *index, size_t k, const hu_balls *x)
{
	size_t w = hu_balls_dim(x, -1);
	char *chosen = hu_xmalloc(w + 1);
	double *line = hu_xmalloc((w + 1) * sizeof *line);

	*d = (hu_choice){ .rows = w ? x->n / w : 0, .k = k };
	for (size_t i = 0; i < d->rows; i++) {
		int wrong = 0;
		memset(chosen, 0, w);
		for (size_t j = 0; j < k; j++) {
			double at = index[i * k + j];
			if (!(at >= 0 && at < (double)w) || at != floor(at) || chosen[(size_t)at])
				wrong = 1;
			else
				chosen[(size_t)at] = 1;
		}
		wrong |= is_wrong(x->b + i * w, chosen, w);
		if (wrong && !d->wrong)
			d->first_wrong = i;
		d->wrong += (size_t)wrong;
		d->open += (size_t)is_open(x->b + i * w, w, k, line);
	}
	free(chosen);
	free(line);
}
