/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/exact/enclosing.h"

#include "lib/op/contract/exact/contract_exact.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = HU_ENCLOSING_COLUMNS, STRETCH = HU_ENCLOSING_STRETCH };

/* Computes Σ over all k for rows w->rows[0 .. r) and count columns, or magnitudes alone where the exact engine has the
   values. b holds packed stretches, or is NULL. */
static void
products(const hu_enclosing *j, hu_enclosing_work *w, const hu_contract *x, const hu_operand *b, const size_t *list,
	size_t n0, size_t count, size_t r)
{
	hu_enclosure out = { j->hi ? NULL : w->hi, w->lo, w->err, w->mag, count };

	for (size_t k0 = 0, s = 0; k0 < x->k || !s; k0 += STRETCH, s++) {
		size_t k1 = k0 + STRETCH < x->k ? k0 + STRETCH : x->k;
		hu_contract_pack_left(x, &w->a, j->hi != NULL, w->rows, r, k0, k1, w->k);
		if (!b)
			hu_contract_pack_right(x, &w->b, j->hi != NULL, list, n0, count, k0, k1, w->line);
		(s ? hu_enclose_add : hu_enclose)(&out, &w->a, b ? &b[s] : &w->b, j->hi ? HU_PLAIN : HU_TWO);
	}
	for (size_t i = 0; j->hi && i < r * count; i++) /* an infinity times 0 is NaN */
		w->mag[i] = w->mag[i] < INFINITY ? w->mag[i] : INFINITY;
}

/* The bound for one output, given mag >= Σ|ab| and value >= |Σ ab|, both before division by the scale. */
static double
bound_of(const hu_enclosing *j, size_t element, double mag, double value)
{
	const hu_call *c = j->c;
	hu_sum_bound own, *s = &own;
	hu_format out = hu_format_of(c->fmt.out);

	own = hu_contract_has_own_bound(c) ? hu_contract_own_bound(j->x, c, element, j->part) : j->sum;
	double e = s->relative * mag + s->absolute, most = (value + e) / j->x->scale;
	double ulps = c->mode == HU_RNE || c->mode == HU_RNA ? 0.5 : 1;

	if (!(s->peak * mag + s->absolute <= s->limit) || !(mag < INFINITY))
		return INFINITY;
	e /= j->x->scale;
	if (!hu_contract_holds(out, j->inner) || j->x->scale != 1) {
		/* A value of up to half an ulp above the largest still rounds to it, but comparing with the largest is
		   simpler. */
		if (!(most <= out.max)) {
			if (!(c->flags & HU_SATURATE))
				return INFINITY;
			e += most - out.max;
		}
		e += 2 * ulps * hu_unit(out) * most + ulps * hu_smallest(out);
	}
	return e * (1 + 0x1p-40);
}

/* Dividing by a power of two is exact unless the result is subnormal. */
static void
unscale(hu_enclosing_work *w, size_t i, double scale)
{
	double lo = w->lo[i] / scale, hi = w->hi[i] / scale;

	if ((w->lo[i] != 0 && !(fabs(lo) > 0x1p-900)) || (w->hi[i] != 0 && !(fabs(hi) > 0x1p-900)))
		w->err[i] = INFINITY;
	w->hi[i] = hi;
	w->lo[i] = lo;
	w->err[i] = w->err[i] != 0 ? w->err[i] / scale + 0x1p-1070 : 0;
	w->mag[i] /= scale;
}

/* Keeps results from[i] of the tile, which are number at[i] of the list. */
static void
choose(const hu_enclosing *j, hu_enclosing_work *w, size_t n)
{
	for (size_t i = 0; i < n; i++) { /* from[] ascends, so nothing is overwritten before it is read */
		size_t f = w->from[i];
		w->hi[i] = w->hi[f];
		w->lo[i] = w->lo[f];
		w->err[i] = w->err[f];
		w->mag[i] = w->mag[f];
	}
	for (size_t i = 0; j->sink->bounds && i < n; i++)
		w->bound[i] = bound_of(j, j->element ? j->element[w->at[i]] : w->at[i], w->mag[i],
			(fabs(w->hi[i]) + fabs(w->lo[i]) + w->err[i]) * (1 + 0x1p-50));
}

/* Sets columns from n0 on of r rows to the exact engine's values. */
static void
put_exact(const hu_enclosing *j, hu_enclosing_work *w, size_t n0, size_t count, size_t r)
{
	for (size_t i = 0; i < r; i++) {
		size_t from = (w->rows[0] + i - j->row0) * j->columns + n0 - j->left, to = i * count;
		memcpy(w->hi + to, j->hi + from, count * sizeof *w->hi);
		memcpy(w->lo + to, j->lo + from, count * sizeof *w->lo);
		memcpy(w->err + to, j->err + from, count * sizeof *w->err);
	}
}

static void
hand_over(const hu_enclosing *j, hu_enclosing_work *w, size_t n)
{
	int bounds = j->sink->bounds;
	hu_tile t = { n, 0, w->at, w->hi, w->lo, w->err, bounds ? w->bound : NULL, bounds ? w->mag : NULL };

	for (size_t i = 0; i < n && j->x->scale != 1; i++)
		unscale(w, i, j->x->scale);
	j->sink->take(j->sink, &t);
}

/* The column of the output's element e. */
static size_t
column_of(const hu_contract *x, size_t e)
{
	size_t batch, n;

	hu_contract_row_of(x, e, &batch, &n);
	return n;
}

void
hu_enclosing_tile(const hu_enclosing *j, hu_enclosing_work *w, const hu_contract *x, const hu_operand *b,
	size_t n0, size_t count, size_t r)
{
	size_t n = 0;

	products(j, w, x, b, NULL, n0, count, r);
	if (j->hi)
		put_exact(j, w, n0, count, r);
	for (size_t i = 0; i < r; i++) {
		size_t m = hu_enclosing_row(x, w->rows[i]);
		if (!j->start) {
			for (size_t q = 0; q < count; q++, n++) {
				w->from[n] = i * count + q;
				w->at[n] = hu_contract_at(x, w->rows[i]) + n0 + q;
			}
			continue;
		}
		for (size_t q = j->start[m]; q < j->start[m + 1]; q++) {
			size_t column = column_of(x, j->element[j->order[q]]);
			if (column >= n0 && column < n0 + count) {
				w->from[n] = i * count + column - n0;
				w->at[n++] = j->order[q];
			}
		}
	}
	choose(j, w, n);
	hand_over(j, w, n);
}

void
hu_enclosing_singles(const hu_enclosing *j, hu_enclosing_work *w, const hu_contract *x, size_t row)
{
	size_t m = hu_enclosing_row(x, row);

	w->rows[0] = row;
	for (size_t q = j->start[m]; q < j->start[m + 1];) {
		size_t n = 0;
		for (; q < j->start[m + 1] && n < COLUMNS; q++, n++) {
			w->from[n] = n;
			w->at[n] = j->order[q];
			w->columns[n] = column_of(x, j->element[j->order[q]]);
		}
		products(j, w, x, NULL, w->columns, 0, n, 1);
		choose(j, w, n);
		hand_over(j, w, n);
	}
}
