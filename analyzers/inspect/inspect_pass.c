/* SPDX-License-Identifier: Apache-2.0
   An array is cut into tasks of whole blocks, which threads take; a task decodes its elements once and casts them to
   each format while they lie in the cache. Tasks are joined in their order. */
#include "analyzers/inspect/inspect_pass.h"

#include "analyzers/inspect/inspect_tasks.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 2048, WAVE = 256 }; /* elements that are summed in double; tasks between two joins */

static const hu_cast_loops *
loops(void)
{
#ifdef __x86_64__
	if (hu_simd_level() == HU_SIMD_AVX512)
		return &hu_cast_loops_avx512;
	if (hu_simd_level() == HU_SIMD_AVX2)
		return &hu_cast_loops_avx2;
#endif
	return &hu_cast_loops_plain;
}

/* Returns the smallest magnitude of that sign which the format does not hold by its range; INFINITY where it holds all.
   Larger ones overflow too, so the bits of doubles are halved until it is found. */
static double
first_beyond(hu_format f, double sign)
{
	uint64_t low = 0, high = hu_bits64(HUGE_VAL);

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (hu_round_full(sign * hu_from_bits64(middle), f, HU_RNE, 0, 0).flags & HU_OVERFLOW)
			high = middle;
		else
			low = middle;
	}
	return hu_from_bits64(high);
}

static hu_cast_scaled
scaled_by(const hu_block *b, hu_block_scale s)
{
	hu_cast_scaled c = { .scale = s.scale, .zero = s.zero, .steps = hu_block_steps(b) };
	hu_format f = hu_format_of(b->element);

	if (b->element != HU_NO_FORMAT) {
		c.p = f.p;
		c.emin = f.emin;
		c.top = f.max;
		c.low = -f.max;
	} else if (b->kind == HU_BLOCK_ZERO_POINT) {
		c.top = (1 << b->bits) - 1;
	} else {
		c.top = (1 << (b->bits - 1)) - 1;
		c.low = -c.top;
	}
	return c;
}

/* Casts elements from..from + n of a task, which share a scale. Loops take eight at a time; where the last eight are
   not full they are cast beside, with zeros. */
static void
cast_block(hu_cast_sums *s, const hu_inspect_job *j, const hu_inspect_desk *d, const hu_block *b, hu_block_scale scale,
	size_t from, size_t n)
{
	hu_cast_scaled c = scaled_by(b, scale);
	size_t full = n / 8 * 8;

	if (hu_isnan(scale.scale) || scale.scale == 0) {
		for (size_t i = from; i < from + n; i++)
			d->got[i] = scale.scale;
		return;
	}
	j->loops->scaled(s, d->got + from, d->narrow + from, d->x + from, full, &c);
	if (full < n) {
		double x[8] = { 0 }, exact[8] = { 0 }, got[8];
		memcpy(x, d->narrow + from + full, (n - full) * sizeof *x);
		memcpy(exact, d->x + from + full, (n - full) * sizeof *x);
		j->loops->scaled(s, got, x, exact, 8, &c);
		memcpy(d->got + from + full, got, (n - full) * sizeof *x);
	}
}

static void
cast(hu_cast_sums *s, const hu_inspect_job *j, const hu_inspect_desk *d, int k, size_t n)
{
	const hu_target *to = &j->to[k];
	const hu_block *b = &to->block;

	if (!hu_cast_has_blocks(to)) {
		hu_bulk_round_f64(d->got, d->x, n, to->format, HU_RNE, 0, NULL, 0);
	} else if (!b->size) {
		cast_block(s, j, d, b, j->whole[k], 0, n);
	} else { /* a task begins with a block, and where it is not of whole rows it lies in one */
		size_t row = j->group ? j->row : n;
		for (size_t from = 0; from < n; from += row)
			for (size_t at = 0; at < row; at += b->size) {
				size_t m = row - at < b->size ? row - at : b->size;
				hu_block_scale scale = hu_block_scale_of(b, d->f + from + at, m, j->tensor[k]);
				cast_block(s, j, d, b, scale, from + at, m);
			}
	}
	memset(d->got + n, 0, HU_INSPECT_SLACK * sizeof *d->got);
}

static void
do_task(hu_cast_effect *e, const hu_inspect_job *j, const hu_inspect_desk *d, size_t task)
{
	size_t at, n = hu_inspect_task(j, task, &at);
	int narrowed = 0;

	hu_inspect_decode(j, d, at, n);
	for (int k = 0; k < j->n; k++) {
		hu_cast_sums marks = { .finite = 0 };
		hu_cast_effect_init(&e[k]);
		e[k].moments = j->moments;
		if (hu_cast_has_blocks(&j->to[k]) && !narrowed++)
			hu_inspect_narrow(d, n);
		cast(&marks, j, d, k, n);
		e[k].saturated = marks.saturated;
		e[k].flush.count.subnormal = marks.subnormal;
		e[k].flush.count.lost = marks.lost;
		for (size_t i = 0; i < n; i += PART) {
			size_t m = n - i < PART ? n - i : PART;
			hu_inspect_add(&e[k], j, k, d->x + i, d->got + i, at + i, m);
		}
	}
}

/* The numbers of the array in fp32, from the smallest to the largest. */
static hu_cast_range
range_of(const hu_inspect_job *j)
{
	double low = INFINITY, high = -INFINITY;
	int finite = 1;

	for (size_t wave = 0; wave < j->tasks; wave += WAVE) {
		size_t end = j->tasks - wave < WAVE ? j->tasks : wave + WAVE;
#pragma omp parallel num_threads(hu_threads()) if (end - wave > 1) reduction(min : low) reduction(max : high) \
	reduction(&& : finite)
		{
			hu_inspect_desk d;
			hu_inspect_desk_init(&d, j);
#pragma omp for schedule(dynamic, 1)
			for (size_t k = wave; k < end; k++) {
				size_t at, n = hu_inspect_task(j, k, &at);
				hu_inspect_decode(j, &d, at, n);
				for (size_t i = n; i < n + HU_INSPECT_SLACK && n; i++)
					d.x[i] = d.x[n - 1];
				hu_inspect_narrow(&d, n);
				hu_cast_range r = j->loops->range(d.narrow, (n + 7) / 8 * 8);
				low = r.low < low ? r.low : low;
				high = r.high > high ? r.high : high;
				finite = finite && r.finite;
			}
			hu_inspect_desk_release(&d);
		}
		if (j->a->inner == 1)
			hu_array_drop(j->a, hu_inspect_bytes(j, wave), hu_inspect_bytes(j, end));
	}
	return (hu_cast_range){ low, high, finite };
}

/* Scales depend on the smallest and the largest number alone, and on whether all are finite. */
static void
prepare(hu_inspect_job *j)
{
	int moments = hu_cast_is_moment(j->a->name), needed = moments;

	for (int k = 0; k < j->n; k++) {
		const hu_target *t = &j->to[k];
		if (hu_cast_has_blocks(t)) {
			needed |= !t->block.size || t->block.kind == HU_BLOCK_TWO_LEVEL;
		} else {
			j->above[k][0] = first_beyond(hu_format_of(t->format), -1);
			j->above[k][1] = first_beyond(hu_format_of(t->format), 1);
		}
	}
	hu_cast_range r = needed && j->a->n ? range_of(j) : (hu_cast_range){ 0, 0, 1 };
	const float ends[3] = { (float)r.low, (float)r.high, r.finite ? (float)r.high : NAN };
	j->moments = moments && !(r.low < 0);
	for (int k = 0; k < j->n; k++)
		if (hu_cast_has_blocks(&j->to[k])) {
			const hu_block *b = &j->to[k].block;
			j->tensor[k] = hu_block_tensor_scale(b, ends, 3);
			j->whole[k] =
				b->size ? (hu_block_scale){ 0, 0, 0 } : hu_block_scale_of(b, ends, 3, j->tensor[k]);
		}
}

static void
run(hu_cast_effect *e, const hu_inspect_job *j)
{
	hu_cast_effect *part = hu_xcalloc(WAVE * (size_t)j->n + 1, sizeof *part);

	for (size_t wave = 0; wave < j->tasks; wave += WAVE) {
		size_t end = j->tasks - wave < WAVE ? j->tasks : wave + WAVE;
#pragma omp parallel num_threads(hu_threads()) if (end - wave > 1)
		{
			hu_inspect_desk d;
			hu_inspect_desk_init(&d, j);
#pragma omp for schedule(dynamic, 1)
			for (size_t k = wave; k < end; k++)
				do_task(part + (k - wave) * (size_t)j->n, j, &d, k);
			hu_inspect_desk_release(&d);
		}
		for (size_t k = 0; k < end - wave; k++)
			for (int i = 0; i < j->n; i++)
				hu_cast_effect_join(&e[i], &part[k * (size_t)j->n + (size_t)i]);
		if (j->a->inner == 1)
			hu_array_drop(j->a, hu_inspect_bytes(j, wave), hu_inspect_bytes(j, end));
	}
	free(part);
}

void
hu_inspect_pass(hu_cast_effect *e, const hu_array *a, const hu_target *to, int n)
{
	hu_inspect_job j = { .a = a, .to = to, .n = n, .loops = loops() };

	j.whole = hu_xcalloc((size_t)n + 1, sizeof *j.whole);
	j.tensor = hu_xcalloc((size_t)n + 1, sizeof *j.tensor);
	j.above = hu_xcalloc((size_t)n + 1, sizeof *j.above);
	hu_inspect_cut(&j);
	prepare(&j);
	for (int k = 0; k < n; k++) {
		hu_cast_effect_init(&e[k]);
		e[k].moments = j.moments;
	}
	run(e, &j);
	hu_array_drop(a, 0, hu_inspect_bytes(&j, j.tasks));
	free(j.whole);
	free(j.tensor);
	free(j.above);
}
