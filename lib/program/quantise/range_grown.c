/* SPDX-License-Identifier: Apache-2.0
   Ranges by entropy as onnxruntime's calibrater has them when batches are given to it one after the other, as
   nvidia-modelopt does: bins are added where a batch has larger values, so that the first batch decides how narrow a
   range may become. Thresholds and edges are float32, as NumPy computes them. */
#include "lib/program/quantise/range.h"

#include "lib/base/mem.h"
#include "lib/number/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bins beyond MOST are not made: each needs a divergence of its own, and the first batch was as good as 0. */
enum { LEVELS = 128, MOST = 1 << 14 };

/* The N + 1 edges from -END to END. The first batch's ends are a double to NumPy, later ones float32. */
static float *
edges(size_t n, float end, int first)
{
	float *e = hu_xcalloc(n + 1, sizeof *e), step = 2 * end / (float)n;

	for (size_t i = 0; i < n; i++)
		e[i] = first ? (float)((double)i * (2 * (double)end / (double)n) - (double)end)
			     : (float)i * step + -end;
	e[n] = end;
	return e;
}

static void
count(uint64_t *to, const hu_tensor *t, size_t n, const float *e)
{
	double low = (double)e[0], width = (double)e[n] - low;

	for (size_t i = 0; i < t->n; i++) {
		double x = hu_get(t, i);
		if (!hu_isfinite(x) || x < low || x > (double)e[n])
			continue;
		size_t at = (size_t)((x - low) / width * (double)n);
		at = at >= n ? n - 1 : at;
		while (at && x < (double)e[at])
			at--;
		while (at + 1 < n && x >= (double)e[at + 1])
			at++;
		to[at]++;
	}
}

void
hu_range_grow(hu_range_grown *g, const hu_tensor *t, double most)
{
	float end = (float)most;
	size_t n = g->n ? g->n : LEVELS, more = 0;
	int first = !g->n;

	if (g->is_too_wide)
		return;
	if (!first && end <= g->threshold) {
		float *e = edges(n, g->threshold > 0 ? g->threshold : 0.5f, 0);
		count(g->count, t, n, e);
		free(e);
		return;
	}
	if (!first && g->threshold > 0) {
		float stride = 2 * g->threshold / (float)n;
		float wanted = floorf((end - g->threshold) / stride) + 1;
		if (!(2 * wanted + (float)n <= MOST)) {
			g->is_too_wide = 1;
			return;
		}
		more = (size_t)wanted;
		end = (float)more * stride + g->threshold;
	}
	uint64_t *all = hu_xcalloc(n + 2 * more, sizeof *all);
	if (g->n)
		memcpy(all + more, g->count, n * sizeof *all);
	free(g->count);
	free(g->edge);
	*g = (hu_range_grown){ n + 2 * more, all, end, edges(n + 2 * more, end > 0 ? end : 0.5f, first), 0 };
	count(all, t, g->n, g->edge);
}

/* NumPy's float32 sum of N numbers: eight interleaved sums of at most 128 numbers each, halves of more. */
static float
sum(const float *x, size_t n)
{
	float r[8], s = 0;
	size_t i = 8, half = n / 2 - n / 2 % 8;

	if (n > 128)
		return sum(x, half) + sum(x + half, n - half);
	if (n < 8) {
		for (i = 0; i < n; i++)
			s += x[i];
		return s;
	}
	memcpy(r, x, sizeof r);
	for (; i + 8 <= n; i += 8)
		for (size_t k = 0; k < 8; k++)
			r[k] += x[i + k];
	s = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
	for (; i < n; i++)
		s += x[i];
	return s;
}

/* P as shares without zeros: each of them becomes 10^-4 before, which the others give. Returns 0 where P has
   nothing. */
static int
smooth(float *p, size_t n)
{
	size_t zeros = 0;

	for (size_t i = 0; i < n; i++)
		zeros += p[i] == 0;
	if (zeros == n)
		return 0;
	float less = -(float)(1e-4 * (double)zeros / (double)(n - zeros));
	for (size_t i = 0; i < n; i++)
		p[i] += p[i] == 0 ? 1e-4f : less;
	float all = sum(p, n);
	for (size_t i = 0; i < n; i++)
		p[i] /= all;
	return 1;
}

/* The divergence of bins FROM to TO, what lies beyond added to the last ones, from what 128 levels of them say, with
   room for 2 g->n numbers at P. */
static float
divergence(const hu_range_grown *g, size_t from, size_t to, float *p)
{
	size_t n = to - from, each = n / LEVELS;
	uint64_t below = 0, above = 0;
	float *q = p + g->n;

	for (size_t i = 0; i < from; i++)
		below += g->count[i];
	for (size_t i = to; i < g->n; i++)
		above += g->count[i];
	for (size_t i = 0; i < n; i++) {
		p[i] = (float)(g->count[from + i] + (i ? 0 : below) + (i + 1 < n ? 0 : above));
		q[i] = 0;
	}
	for (size_t level = 0; level < LEVELS; level++) {
		size_t begin = level * each, end = begin + each, filled = 0;
		uint64_t in = 0;
		for (size_t i = begin; i < (level == LEVELS - 1 ? n : end); i++)
			in += g->count[from + i];
		for (size_t i = begin; i < end; i++)
			filled += p[i] != 0;
		for (size_t i = begin; i < end && filled; i++)
			q[i] = (float)(in / filled);
	}
	if (!smooth(p, n) || !smooth(q, n))
		return INFINITY;
	for (size_t i = 0; i < n; i++)
		p[i] *= logf(p[i] / q[i]);
	return sum(p, n);
}

void
hu_range_entropy(const hu_range_grown *g, double *low, double *high)
{
	size_t middle = g->n / 2, best = middle;
	float least = INFINITY, *p = hu_xcalloc(2 * g->n + 1, sizeof *p);

	for (size_t i = LEVELS / 2; i <= middle; i++) {
		float d = divergence(g, middle - i, middle + i + 1 < g->n ? middle + i + 1 : g->n, p);
		if (d < least || i == LEVELS / 2) {
			least = d;
			best = i;
		}
	}
	free(p);
	if (!g->n)
		return;
	*low = fmax(*low, (double)g->edge[middle - best]);
	*high = fmin(*high, (double)g->edge[middle + best + 1 < g->n ? middle + best + 1 : g->n]);
}
