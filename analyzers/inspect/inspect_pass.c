/* SPDX-License-Identifier: Apache-2.0
   An array is cut into tasks of whole blocks, which threads take; a task decodes its elements once and casts them to
   each format while they lie in the cache. Tasks are merged in their order. */
#include "analyzers/inspect/inspect_pass.h"

#include "analyzers/inspect/inspect_tasks.h"
#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void
cast(hu_cast_sums *s, const hu_inspect_job *j, const hu_inspect_desk *d, int k, size_t place, size_t n)
{
	const hu_target *to = &j->to[k];
	const hu_block *b = &to->block;

	if (!hu_cast_has_blocks(to)) {
		hu_bulk_round_f64(d->got, d->x, n, to->format, HU_RNE, 0, NULL, 0);
	} else if (!b->size) {
		hu_inspect_cast_block(s, j, d, b, j->whole[k], place, 0, n);
	} else { /* a task begins with a block, and where it is not of whole rows it lies in one */
		size_t row = j->group ? j->row : n;
		for (size_t from = 0; from < n; from += row)
			for (size_t at = 0; at < row; at += b->size) {
				size_t m = row - at < b->size ? row - at : b->size;
				hu_block_scale scale = hu_block_scale_of(b, d->f + from + at, m, j->whole_amax[k]);
				hu_inspect_cast_block(s, j, d, b, scale, place, from + at, m);
			}
	}
	memset(d->got + n, 0, HU_INSPECT_SLACK * sizeof *d->got);
}

static void
do_task(void *part, const hu_inspect_job *j, const hu_inspect_desk *d, size_t task, const void *of)
{
	hu_cast_effect *e = part;
	size_t at, n = hu_inspect_task(j, task, &at);
	int narrowed = 0;

	(void)of;
	hu_inspect_decode(j, d, at, n);
	for (int k = 0; k < j->n; k++) {
		hu_cast_sums marks = { .finite = 0 };
		hu_cast_effect_init(&e[k]);
		e[k].moments = j->moments;
		if (hu_cast_has_blocks(&j->to[k]) && !narrowed++)
			hu_inspect_narrow(d, n);
		cast(&marks, j, d, k, at, n);
		e[k].saturated = marks.saturated;
		e[k].flush.count.subnormal = marks.subnormal;
		e[k].flush.count.lost = marks.lost;
		hu_inspect_add_task(&e[k], j, k, d, at, n);
	}
}

static void
find_range(void *part, const hu_inspect_job *j, const hu_inspect_desk *d, size_t task, const void *of)
{
	size_t at, n = hu_inspect_task(j, task, &at);

	(void)of;
	hu_inspect_decode(j, d, at, n);
	for (size_t i = n; i < n + HU_INSPECT_SLACK && n; i++)
		d->x[i] = d->x[n - 1];
	hu_inspect_narrow(d, n);
	*(hu_cast_range *)part = j->loops->range(d->narrow, (n + 7) / 8 * 8);
}

static void
join_range(void *all, const void *part, const hu_inspect_job *j)
{
	hu_cast_range *r = all;
	const hu_cast_range *more = part;

	(void)j;
	r->low = more->low < r->low ? more->low : r->low;
	r->high = more->high > r->high ? more->high : r->high;
	r->finite = r->finite && more->finite;
}

/* The numbers of the array in fp32, from the smallest to the largest. */
static hu_cast_range
range_of(const hu_inspect_job *j)
{
	hu_cast_range r = { INFINITY, -INFINITY, 1 };
	hu_inspect_work w = { sizeof r, find_range, join_range, NULL };

	hu_inspect_each(&r, j, &w);
	return r;
}

/* Scales depend on the smallest and the largest number alone, and on whether all are finite. */
static void
prepare(hu_inspect_job *j)
{
	int moments = hu_cast_is_moment(j->a->name), needed = moments;
	hu_cast_range r = { 0, 0, 1 };

	for (int k = 0; k < j->n; k++) {
		const hu_target *t = &j->to[k];
		if (hu_cast_has_blocks(t)) {
			needed |= !t->block.size || t->block.kind == HU_BLOCK_TWO_LEVEL;
		} else {
			j->above[k][0] = first_beyond(hu_format_of(t->format), -1);
			j->above[k][1] = first_beyond(hu_format_of(t->format), 1);
		}
	}
	if (needed && j->a->n)
		r = range_of(j);
	const float ends[3] = { (float)r.low, (float)r.high, r.finite ? (float)r.high : NAN };
	memcpy(j->ends, ends, sizeof ends);
	j->moments = moments && !(r.low < 0);
	for (int k = 0; k < j->n; k++)
		if (hu_cast_has_blocks(&j->to[k])) {
			const hu_block *b = &j->to[k].block;
			j->whole_amax[k] = hu_block_whole(b, ends, 3);
			j->whole[k] = b->size ? (hu_block_scale){ .scale = 0 }
					      : hu_block_scale_of(b, ends, 3, j->whole_amax[k]);
		}
}

void
hu_inspect_pass(hu_cast_effect *e, const hu_array *a, const hu_target *to, int n, int best)
{
	hu_inspect_job j = { .a = a, .to = to, .n = n, .loops = loops() };
	hu_inspect_work w = { (size_t)n * sizeof *e, do_task, hu_inspect_merge_effects, NULL };

	j.whole = hu_xcalloc((size_t)n + 1, sizeof *j.whole);
	j.whole_amax = hu_xcalloc((size_t)n + 1, sizeof *j.whole_amax);
	j.above = hu_xcalloc((size_t)n + 1, sizeof *j.above);
	hu_inspect_cut(&j);
	prepare(&j);
	for (int k = 0; k < n; k++) {
		hu_cast_effect_init(&e[k]);
		e[k].moments = j.moments;
	}
	hu_inspect_each(e, &j, &w);
	if (best)
		hu_inspect_best(e, &j);
	hu_array_drop(a, 0, hu_inspect_bytes(&j, j.tasks));
	free(j.whole);
	free(j.whole_amax);
	free(j.above);
}
