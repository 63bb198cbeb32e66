/* SPDX-License-Identifier: Apache-2.0
   Ranges by a percentile as onnxruntime's PercentileCalibrater has them: 2048 bins from the least magnitude to the
   largest one, whose edges are float32 as NumPy's histogram has them. The range ends at the lower edge of the bin where
   the share is reached, so that the largest values are clipped whatever the share is. */
#include "lib/program/quantise/range.h"

#include "lib/base/mem.h"
#include "lib/number/arith.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 2048 };

void
hu_range_magnitude_ends(hu_range_magnitudes *m, const hu_tensor *t)
{
	for (size_t i = 0; i < t->n; i++) {
		float x = fabsf((float)hu_get(t, i));
		if (!hu_isfinite((double)x))
			continue;
		m->least = m->any && m->least < x ? m->least : x;
		m->most = m->any && m->most > x ? m->most : x;
		m->any = 1;
	}
}

/* The BINS + 1 edges. Where all magnitudes are one NumPy has half a unit on both sides of it. */
static void
edges(hu_range_magnitudes *m)
{
	float first = m->least < m->most ? m->least : m->least - 0.5f,
	      last = m->least < m->most ? m->most : m->most + 0.5f, step = (last - first) / BINS;

	m->count = hu_xcalloc(BINS, sizeof *m->count);
	m->edge = hu_xcalloc(BINS + 1, sizeof *m->edge);
	for (size_t i = 0; i < BINS; i++)
		m->edge[i] = (float)i * step + first;
	m->edge[BINS] = last;
}

void
hu_range_magnitude_count(hu_range_magnitudes *m, const hu_tensor *t)
{
	if (!m->any)
		return;
	if (!m->count)
		edges(m);
	float first = m->edge[0], width = m->edge[BINS] - first;
	for (size_t i = 0; i < t->n; i++) {
		float x = fabsf((float)hu_get(t, i)), at = (x - first) / width * BINS;
		if (!(at >= 0))
			continue;
		size_t k = at >= BINS ? BINS - 1 : (size_t)at;
		k -= k && x < m->edge[k];
		k += k + 1 < BINS && x >= m->edge[k + 1];
		m->count[k]++;
	}
}

void
hu_range_percentile(const hu_range_magnitudes *m, double percent, double *low, double *high)
{
	double all = 0, share = 0;
	size_t k = 0;

	if (!m->count)
		return;
	for (size_t i = 0; i < BINS; i++)
		all += (double)m->count[i];
	for (; k < BINS; k++) {
		share += (double)m->count[k] / all;
		if (share >= percent / 100)
			break;
	}
	*low = fmax(*low, -(double)m->edge[k]);
	*high = fmin(*high, (double)m->edge[k]);
}
