/* SPDX-License-Identifier: Apache-2.0
   The scales under which casts err least. Multiplying by a larger power of two makes the values that a format holds a
   superset of those it held, as far as nothing leaves its range; so where values must not overflow, the largest power
   that fits is best. Where they saturate, and for integers, candidates are tried on all elements. */
#include "analyzers/inspect/inspect_tasks.h"
#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	EACH = 16,  /* candidates to an octave of ranges, and of a pass over the array */
	MOST = 1000 /* the largest magnitude of a power; a double holds its inverse too */
};

/* A candidate: for single numbers the power of two that elements are multiplied by, else the scale. */
typedef struct candidate {
	int power;
	hu_block_scale scale;
} candidate;

/* The candidates of a pass for format k, and what came of it: the squared errors of each, and of those elements alone
   that lie beyond what the last candidate can hold, widened by a step: no later one errs less. */
typedef struct trial {
	int k, n;
	double unit; /* a power of two that errors are multiplied by, so that no square leaves the range of doubles */
	candidate c[EACH];
} trial;
typedef struct errors {
	long double each[EACH], beyond;
} errors;

/* Clipping the range of n elements to a 2^-j of it spoils the largest element by nearly all of it, and spares each of
   the smaller ones at most the clipped range: more octaves than log2 sqrt(n) and two for the rounding never pay. */
static int
octaves(size_t n)
{
	int j = 2;

	for (size_t i = n; i; i >>= 2)
		j++;
	return j;
}

/* The scale that follows from the range of `ends` made 2^(-i/16) as wide. */
static hu_block_scale
narrowed(const hu_inspect_job *j, int k, const float ends[3], int i)
{
	static const double part[EACH] = { 1, 0x1.ea4afa2a490dap-1, 0x1.d5818dcfba487p-1, 0x1.c199bdd85529cp-1,
		0x1.ae89f995ad3adp-1, 0x1.9c49182a3f09p-1, 0x1.8ace5422aa0dbp-1, 0x1.7a11473eb0187p-1,
		0x1.6a09e667f3bcdp-1, 0x1.5ab07dd485429p-1, 0x1.4bfdad5362a27p-1, 0x1.3dea64c123422p-1,
		0x1.306fe0a31b715p-1, 0x1.2387a6e756238p-1, 0x1.172b83c7d517bp-1, 0x1.0b5586cf9890fp-1 };
	int down = i < 0 ? -1 : i / EACH;
	float now[3];

	for (int e = 0; e < 3; e++)
		now[e] = (float)((double)ends[e] * part[i - down * EACH] * hu_pow2(-down));
	return hu_block_scale_of(&j->to[k].block, now, 3, j->whole_amax[k]);
}

/* The first i: powers of two are rounded down, so that a larger range may be better. */
static int
first(const hu_block *b)
{
	return b->kind == HU_BLOCK_POWER2 || b->kind == HU_BLOCK_TWO_LEVEL ? -EACH : 0;
}

/* The numbers from *low to *high are those that a block of this scale holds, and a step around them. */
static void
reach(double *low, double *high, const hu_block *b, hu_block_scale s)
{
	double top = b->element != HU_NO_FORMAT       ? hu_format_of(b->element).max
		     : b->kind == HU_BLOCK_ZERO_POINT ? (1 << b->bits) - 1
						      : (1 << (b->bits - 1)) - 1;

	*low = s.scale * ((b->kind == HU_BLOCK_ZERO_POINT ? 0 : -top) - s.zero - 1) / hu_block_steps(b);
	*high = s.scale * (top - s.zero + 1) / hu_block_steps(b);
}

static long double
squares(const double *x, const double *got, size_t n, double unit)
{
	long double sum = 0;

	for (size_t at = 0; at < n; at += HU_INSPECT_PART) {
		size_t m = n - at < HU_INSPECT_PART ? n - at : HU_INSPECT_PART;
		double part[8] = { 0 };
		for (size_t i = 0; i < m; i++) {
			double e = (got[at + i] - x[at + i]) * unit;
			part[i % 8] += e - e == 0 ? e * e : 0;
		}
		sum += ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
	}
	return sum;
}

static long double
squares_beyond(const double *x, size_t n, double low, double high, double unit)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double e = (x[i] > high ? x[i] - high : x[i] < low ? low - x[i] : 0) * unit;
		sum += e - e == 0 ? e * e : 0;
	}
	return sum;
}

/* d->got becomes the n elements as the format makes them under the power. Products by powers of two are exact, but for
   results so small that the format makes them 0. */
static void
cast_times(const hu_inspect_job *j, const hu_inspect_desk *d, int k, int power, size_t n)
{
	double half = hu_pow2(power / 2), rest = hu_pow2(power - power / 2);

	for (size_t i = 0; i < n; i++)
		d->got[i] = d->x[i] * half * rest;
	hu_bulk_round_f64(d->got, d->got, n, j->to[k].format, HU_RNE, 0, NULL, 0);
	for (size_t i = 0; i < n; i++)
		d->got[i] = d->got[i] / half / rest;
}

static void
cast_whole(const hu_inspect_job *j, const hu_inspect_desk *d, int k, const candidate *c, size_t n)
{
	hu_cast_sums marks = { .finite = 0 };

	if (hu_cast_has_blocks(&j->to[k]))
		hu_inspect_cast_block(&marks, j, d, &j->to[k].block, c->scale, 0, 0, n);
	else
		cast_times(j, d, k, c->power, n);
}

static void
try_task(void *part, const hu_inspect_job *j, const hu_inspect_desk *d, size_t task, const void *of)
{
	const trial *t = of;
	const hu_target *to = &j->to[t->k];
	errors *e = part;
	size_t at, n = hu_inspect_task(j, task, &at);
	double low, high;

	*e = (errors){ .beyond = 0 };
	hu_inspect_decode(j, d, at, n);
	hu_inspect_narrow(d, n);
	for (int i = 0; i < t->n; i++) {
		cast_whole(j, d, t->k, &t->c[i], n);
		e->each[i] = squares(d->x, d->got, n, t->unit);
	}
	if (hu_cast_has_blocks(to)) {
		reach(&low, &high, &to->block, t->c[t->n - 1].scale);
	} else {
		high = hu_format_of(to->format).max / hu_pow2(t->c[t->n - 1].power);
		low = -high;
	}
	e->beyond = squares_beyond(d->x, n, low, high, t->unit);
}

static void
join_errors(void *all, const void *part, const hu_inspect_job *j)
{
	errors *e = all;
	const errors *more = part;

	(void)j;
	for (int i = 0; i < EACH; i++)
		e->each[i] += more->each[i];
	e->beyond += more->beyond;
}

/* Tries the candidates from `from` on, EACH in a pass over the array, until no later one can err less, and returns the
   best; of equals the first. Those of single numbers are powers of two, of which there are fewer. */
static candidate
search(const hu_inspect_job *j, int k, double unit, int from, int end)
{
	hu_inspect_work w = { sizeof(errors), try_task, join_errors, NULL };
	int blocks = hu_cast_has_blocks(&j->to[k]);
	long double least = INFINITY;
	candidate best = { from, { .scale = 0 } };

	for (int i = from; i < end; i += EACH) {
		trial t = { .k = k, .unit = unit };
		errors e = { .beyond = 0 };
		for (int c = i; c < end && t.n < EACH; c++)
			t.c[t.n++] = (candidate){ c, blocks ? narrowed(j, k, j->ends, c) : (hu_block_scale){ 0 } };
		w.of = &t;
		hu_inspect_each(&e, j, &w);
		for (int c = 0; c < t.n; c++)
			if (e.each[c] < least) {
				least = e.each[c];
				best = t.c[c];
			}
		if (e.beyond >= least)
			break;
	}
	return best;
}

/* Casts elements from..from + n of the desk, a block, under the scale of least error. */
static void
cast_best_block(const hu_inspect_job *j, const hu_inspect_desk *d, int k, size_t from, size_t n)
{
	const hu_block *b = &j->to[k].block;
	float ends[3] = { INFINITY, -INFINITY, 0 };
	int at = first(b), end = EACH * octaves(n);
	hu_block_scale best = { .scale = 0 }, before = { .scale = NAN };
	long double least = INFINITY;
	hu_cast_sums marks = { .finite = 0 };
	double low, high;

	for (size_t i = from; i < from + n; i++) {
		ends[0] = d->f[i] < ends[0] ? d->f[i] : ends[0];
		ends[1] = d->f[i] > ends[1] ? d->f[i] : ends[1];
		ends[2] = d->f[i] - d->f[i] == 0 ? ends[2] : NAN;
	}
	for (best = narrowed(j, k, ends, 0); at < end && best.scale > 0; at++) {
		hu_block_scale now = narrowed(j, k, ends, at);
		if (now.scale == before.scale && now.zero == before.zero)
			continue;
		before = now;
		if (!(now.scale > 0))
			break;
		hu_inspect_cast_block(&marks, j, d, b, now, 0, from, n);
		long double e = squares(d->x + from, d->got + from, n, 1);
		if (e < least) {
			least = e;
			best = now;
		}
		reach(&low, &high, b, now);
		low = fmax(0, fmax(ends[1] - high, low - ends[0]));
		if (low * low >= least)
			break;
	}
	hu_inspect_cast_block(&marks, j, d, b, best, 0, from, n);
}

static void
best_task(void *part, const hu_inspect_job *j, const hu_inspect_desk *d, size_t task, const void *of)
{
	const candidate *best = of;
	hu_cast_effect *e = part;
	size_t at, n = hu_inspect_task(j, task, &at), row = j->group ? j->row : n;

	hu_inspect_decode(j, d, at, n);
	hu_inspect_narrow(d, n);
	for (int k = 0; k < j->n; k++) {
		size_t size = hu_cast_has_blocks(&j->to[k]) ? j->to[k].block.size : 0;
		hu_cast_effect_init(&e[k]);
		if (!size)
			cast_whole(j, d, k, &best[k], n);
		for (size_t from = 0; size && from < n; from += row)
			for (size_t i = 0; i < row; i += size)
				cast_best_block(j, d, k, from + i, row - i < size ? row - i : size);
		memset(d->got + n, 0, HU_INSPECT_SLACK * sizeof *d->got);
		hu_inspect_add_task(&e[k], j, k, d, at, n);
	}
}

/* The largest power that keeps magnitudes up to amax below `above`, the first that overflows. */
static int
largest_power(double amax, double above)
{
	int e, least = 1025;
	double m = frexp(amax, &e), limit = isfinite(above) ? frexp(above, &least) : 0.5;
	int power = least - e - (m >= limit);

	return power < -MOST ? -MOST : power > MOST ? MOST : power;
}

/* The candidate of format k, and its scale. */
static candidate
find(hu_cast_effect *e, const hu_inspect_job *j, int k)
{
	const hu_target *to = &j->to[k];
	candidate best = { 0, j->whole[k] };

	if (e->amax <= 0)
		return best;
	if (hu_cast_has_blocks(to)) {
		if (to->block.size || !(best.scale.scale > 0))
			return best;
		best = search(j, k, 1, first(&to->block), EACH * octaves(j->a->n));
		e->best_scale = best.scale.scale / hu_block_steps(&to->block);
	} else {
		double above =
			j->above[k][1] < j->above[k][0] || j->above[k][0] < 0x1p-1000 ? j->above[k][1] : j->above[k][0];
		double after;
		best.power = largest_power(e->amax, above);
		hu_bulk_round_f64(&after, &above, 1, to->format, HU_RNE, 0, NULL, 0);
		if (isfinite(above) && isfinite(after))
			best = search(j, k, hu_pow2(best.power), best.power, best.power + octaves(j->a->n));
		e->best_scale = ldexp(1, -best.power);
	}
	return best;
}

void
hu_inspect_best(hu_cast_effect *e, const hu_inspect_job *j)
{
	candidate *best = hu_xcalloc((size_t)j->n + 1, sizeof *best);
	hu_cast_effect *under = hu_xcalloc((size_t)j->n + 1, sizeof *under);
	hu_inspect_work w = { (size_t)j->n * sizeof *under, best_task, hu_inspect_merge_effects, best };

	for (int k = 0; k < j->n; k++) {
		best[k] = find(&e[k], j, k);
		hu_cast_effect_init(&under[k]);
	}
	hu_inspect_each(under, j, &w);
	for (int k = 0; k < j->n; k++) {
		e[k].best_finite = under[k].finite;
		e[k].best_exact2 = under[k].flush.harm.exact2;
		e[k].best_error2 = under[k].error2;
	}
	free(best);
	free(under);
}
