/* SPDX-License-Identifier: Apache-2.0
   Packs and scales vectors, and measures their exponents and bits. */
#include "lib/exact/operand.h"

#include "lib/base/mem.h"
#include "lib/exact/grid/grid.h"
#include "lib/number/round.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Sets the lanes past the last vector to zero. */
static void
pad(hu_operand *o)
{
	size_t w = o->width, over = o->count % w;

	if (over == 0)
		return;
	double *x = o->x + o->count / w * o->k * w;
	for (size_t kk = 0; kk < o->k; kk++)
		for (size_t lane = over; lane < w; lane++)
			x[kk * w + lane] = 0;
}

void
hu_operand_start(hu_operand *o, hu_operand_side side, size_t count, size_t k)
{
	size_t width = side == HU_LEFT ? HU_GRID_ROWS : hu_grid_get()->cols,
	       padded = (count + width - 1) / width * width;

	if (padded * k > o->room || !o->x) {
		free(o->x);
		o->room = padded * k;
		o->x = hu_xalloc(o->room * sizeof *o->x);
	}
	if (padded > o->padded) {
		free(o->rest);
		int *i = o->rest = hu_xmalloc(padded * (4 * sizeof *i + 1));
		o->e = i;
		o->low = i + padded;
		o->bits = i + 2 * padded;
		o->bottom = i + 3 * padded;
		o->special = (unsigned char *)(i + 4 * padded);
		o->padded = padded;
	}
	for (size_t i = 0; i < padded; i++) {
		o->e[i] = o->low[i] = o->bits[i] = o->special[i] = 0;
		o->bottom[i] = INT_MAX;
	}
	o->side = side;
	o->count = count;
	o->k = k;
	o->width = width;
	o->measured = o->raw = 0;
	pad(o);
}

void
hu_operand_stretch(hu_operand *o, size_t k)
{
	o->k = k;
	o->raw = 0;
	pad(o);
}

void
hu_operand_settle(hu_operand *o)
{
	o->measured = 1;
}

/* More than any width that is exact, and little enough for the fast path of enclose.c's put_panel. */
enum { ANY = 150 };

void
hu_operand_assume_zero(hu_operand *o, size_t i)
{
	o->e[i] = o->bits[i] = o->special[i] = 0;
	o->low[i] = -ANY; /* 0 is a multiple of every number: products with any vector are exact */
}

void
hu_operand_assume(hu_operand *o, size_t i, int e, int special)
{
	o->e[i] = special ? 0 : e;
	o->low[i] = special ? 0 : ANY;
	o->bits[i] = special ? 0 : 53;
	o->special[i] = (unsigned char)(special != 0);
}

/* Adds to m what a call of hu_grid_measure found of further elements: top, low and all are its results (grid.h). */
static void
merge(hu_measured *m, uint64_t top, uint64_t low, uint64_t all)
{
	if (top >> 52 == 0x7ff) {
		m->special = 1;
	} else if (top) {
		int e = hu_exponent(hu_from_bits64(top)), bottom = hu_exponent(hu_from_bits64(low)),
		    bits = 53 - __builtin_ctzll(all | 1ull << 52);
		e = e < -1022 ? -1022 : e; /* 2^-e must be a double; |x| stays below 2 */
		m->e = !m->any || e > m->e ? e : m->e;
		m->bottom = !m->any || bottom < m->bottom ? bottom : m->bottom;
		m->low = m->e > m->bottom ? m->e - m->bottom : 0;
		m->bits = bits > m->bits ? bits : m->bits;
		m->any = 1;
	}
	if (m->special)
		m->e = m->low = m->bits = 0;
}

void
hu_measure(hu_measured *m, const double *x, size_t n)
{
	enum { W = HU_GRID_COLS };
	const hu_grid *grid = hu_grid_get();
	uint64_t top[W], low[W], all[W], tail[3];

	grid->measure(n / W, W, x, top, low, all);
	for (size_t k = n / W * W; k < n; k++) {
		grid->measure(1, 1, x + k, tail, tail + 1, tail + 2);
		top[0] = tail[0] > top[0] ? tail[0] : top[0];
		low[0] = tail[1] < low[0] ? tail[1] : low[0];
		all[0] |= tail[2];
	}
	for (size_t lane = 1; lane < W; lane++) {
		top[0] = top[lane] > top[0] ? top[lane] : top[0];
		low[0] = low[lane] < low[0] ? low[lane] : low[0];
		all[0] |= all[lane];
	}
	merge(m, top[0], low[0], all[0]);
}

static hu_measured
measured(const hu_operand *o, size_t i)
{
	return (hu_measured){ o->bottom[i] != INT_MAX, o->special[i], o->e[i], o->bottom[i], o->low[i], o->bits[i] };
}

static void
keep(hu_operand *o, size_t i, hu_measured m)
{
	o->e[i] = m.e;
	o->low[i] = m.low;
	o->bits[i] = m.bits;
	o->bottom[i] = m.any ? m.bottom : INT_MAX;
	o->special[i] = (unsigned char)m.special;
}

void
hu_operand_measure(hu_operand *o, size_t i, const double *x, size_t n)
{
	hu_measured m = measured(o, i);

	hu_measure(&m, x, n);
	keep(o, i, m);
}

void
hu_operand_vector(hu_operand *o, size_t i, const double *x, size_t stride)
{
	size_t w = o->width;
	double *out = o->x + i / w * o->k * w + i % w, some[256];

	if (!o->measured && stride == 1) {
		hu_operand_measure(o, i, x, o->k);
	} else if (!o->measured) {
		for (size_t done = 0, n; done < o->k; done += n) {
			for (n = 0; n < sizeof some / sizeof *some && done + n < o->k; n++)
				some[n] = x[(done + n) * stride];
			hu_operand_measure(o, i, some, n);
		}
	}
	double factor = hu_pow2(-o->e[i]);
	if (o->special[i])
		for (size_t kk = 0; kk < o->k; kk++)
			out[kk * w] = 0;
	else if (w == HU_GRID_ROWS)
		for (size_t kk = 0; kk < o->k; kk++)
			out[kk * HU_GRID_ROWS] = x[kk * stride] * factor;
	else
		for (size_t kk = 0; kk < o->k; kk++)
			out[kk * w] = x[kk * stride] * factor;
}

void
hu_operand_slab(hu_operand *o, size_t kk, const double *x, size_t stride)
{
	size_t w = o->width, i = 0;

	for (size_t p = 0; p * w < o->count; p++) {
		double *out = o->x + (p * o->k + kk) * w;
		for (size_t lane = 0; lane < w && i < o->count; lane++, i++)
			out[lane] = x[i * stride];
	}
	o->raw = 1;
}

void
hu_operand_survey(hu_operand *o)
{
	uint64_t top[HU_GRID_COLS], low[HU_GRID_COLS], all[HU_GRID_COLS];
	size_t w = o->width;

	for (size_t p = 0; p * w < o->count; p++) {
		hu_grid_get()->measure(o->k, w, o->x + p * o->k * w, top, low, all);
		for (size_t lane = 0; lane < w; lane++) {
			hu_measured m = measured(o, p * w + lane);
			merge(&m, top[lane], low[lane], all[lane]);
			keep(o, p * w + lane, m);
		}
	}
}

void
hu_operand_ready(hu_operand *o)
{
	size_t w = o->width;

	if (o->raw && !o->measured)
		hu_operand_survey(o);
	for (size_t p = 0; o->raw && p * w < o->count; p++) {
		double factor[HU_GRID_COLS], *x = o->x + p * o->k * w;
		for (size_t lane = 0; lane < w; lane++) {
			factor[lane] = hu_pow2(-o->e[p * w + lane]);
			for (size_t kk = 0; o->special[p * w + lane] && kk < o->k; kk++)
				x[kk * w + lane] = 0;
		}
		hu_grid_get()->scale(o->k, w, x, factor);
	}
	o->raw = 0;
}

void
hu_operand_release(hu_operand *o)
{
	free(o->x);
	free(o->rest);
	memset(o, 0, sizeof *o);
}
