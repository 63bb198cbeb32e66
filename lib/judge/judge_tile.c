/* SPDX-License-Identifier: Apache-2.0
   The verdicts of a tile, from the enclosures that the operator hands over with it: whole blocks at a time where every
   value is decided, as most are, else value by value. What an enclosure leaves open waits for the reference. */
#include "lib/judge/judge_parts.h"

#include "lib/base/mem.h"
#include "lib/judge/verdict/vanishing.h"
#include "lib/judge/verdict/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The place in the list of value i of the tile. */
static size_t
place_of(const hu_judge_state *s, const hu_tile *t, size_t i)
{
	size_t at = t->at ? t->at[i] : t->first + i;

	return s->some.last ? hu_region_element(s->some, at) : at;
}

/* Whether the tile's values are of elements one behind another. */
static int
is_stretch(const hu_judge_state *s, const hu_tile *t)
{
	return !t->at && !s->job->element && !s->some.row;
}

/* Loads values i .. i+n-1 of the tile into b and fills the rest of the block with zeros. */
static void
load(hu_verdict_block *b, const hu_judge_state *s, const hu_tile *t, size_t i, size_t n)
{
	const hu_judge_job *job = s->job;
	const hu_tensor *got = job->got;

	memcpy(b->hi, t->hi + i, n * sizeof *b->hi);
	memcpy(b->lo, t->lo + i, n * sizeof *b->lo);
	memcpy(b->err, t->err + i, n * sizeof *b->err);
	if (t->bound)
		memcpy(b->bound, t->bound + i, n * sizeof *b->bound);
	else
		memset(b->bound, 0, n * sizeof *b->bound);
	if (is_stretch(s, t) && !hu_is_wide(got->format)) {
		const float *from = (const float *)got->data + place_of(s, t, i);
		for (size_t k = 0; k < n; k++)
			b->got[k] = (double)from[k];
	} else {
		for (size_t k = 0; k < n; k++)
			b->got[k] = hu_get(got, hu_judge_element(job, place_of(s, t, i + k)));
	}
	for (size_t k = n; k < HU_VERDICT_BLOCK; k++)
		b->hi[k] = b->lo[k] = b->err[k] = b->got[k] = b->bound[k] = 0;
}

/* What a tile yields besides its verdicts: how many values were exact, and those left open. */
typedef struct rest { size_t exact, open; hu_waiting *left; } rest;

static void
judge_later(hu_judge_state *s, const hu_tile *t, size_t i, size_t at, double bound, const hu_ziv *v)
{
#pragma omp critical(hu_judge_lists)
	{
		HU_GROW(s->t, s->nt, s->capt);
		s->t[s->nt++] = (hu_twice){ at, t->hi[i], t->lo[i], t->err[i], bound, *v };
	}
}

/* Decides value k of the block, whose place in the list is at, where its enclosure does not. */
static int
vanishes(const hu_judge_state *s, const hu_verdict_block *b, size_t k, size_t at, hu_ziv *v)
{
	const hu_judge_job *job = s->job;

	return b->hi[k] == 0 && b->got[k] == 0 && b->bound[k] > 0 && job->engine->enclose &&
	       hu_ziv_vanishing(v, job->c, job->in, job->out, hu_judge_element(job, at));
}

/* Appends the decided ones of n values of the tile, from i on, to some. */
static void
settle(hu_judge_state *s, hu_judging *some, rest *r, const hu_tile *t, const hu_verdict_block *b, size_t i, size_t n)
{
	const hu_judge_job *job = s->job;

	for (size_t k = 0; k < n; k++) {
		size_t at = place_of(s, t, i + k), to = some->n;
		hu_ziv v = { b->exact[k], b->rounded[k], b->error[k], b->ulps[k], (int)b->over[k] };
		if (!b->known[k] &&
			!hu_ziv_enclosed(&v, b->hi[k], b->lo[k], b->err[k], b->got[k], b->bound[k], s->f) &&
			!vanishes(s, b, k, at, &v)) {
			r->left[r->open++] = (hu_waiting){ at, b->bound[k], t->magnitude ? t->magnitude[i + k] : NAN };
			continue;
		}
		r->exact += b->err[k] == 0;
		some->at[to] = at;
		some->element[to] = hu_judge_element(job, at);
		some->got[to] = b->got[k];
		some->bound[to] = isnan(b->bound[k]) ? INFINITY : b->bound[k];
		some->magnitude[to] = t->magnitude ? t->magnitude[i + k] : v.rounded;
		hu_judging_put(some, to, &v);
		some->n++;
		if (at % s->stride == s->offset)
			judge_later(s, t, i + k, at, b->bound[k], &v);
	}
}

/* The same for a block of contiguous values that are all decided, as most are. */
static void
settle_whole(hu_judge_state *s, hu_judging *some, rest *r, const hu_tile *t, const hu_verdict_block *b, size_t i)
{
	enum { N = HU_VERDICT_BLOCK };
	size_t at = place_of(s, t, i), to = some->n, exact = 0;

	for (size_t k = 0; k < N; k++) {
		some->at[to + k] = some->element[to + k] = at + k;
		some->bound[to + k] = b->bound[k] != b->bound[k] ? INFINITY : b->bound[k];
		some->over[to + k] = b->over[k] != 0;
		exact += b->err[k] == 0;
	}
	memcpy(some->got + to, b->got, sizeof b->got);
	memcpy(some->exact + to, b->exact, sizeof b->exact);
	memcpy(some->error + to, b->error, sizeof b->error);
	memcpy(some->ulps + to, b->ulps, sizeof b->ulps);
	memcpy(some->magnitude + to, t->magnitude ? t->magnitude + i : b->rounded, sizeof b->rounded);
	some->n += N;
	r->exact += exact;
	/* k is the first place from at on that is checked by the reference. */
	size_t past = (at + s->stride - s->offset) % s->stride, k = past ? s->stride - past : 0;
	for (; k < N; k += s->stride) {
		hu_ziv v = { b->exact[k], b->rounded[k], b->error[k], b->ulps[k], (int)b->over[k] };
		judge_later(s, t, i + k, at + k, b->bound[k], &v);
	}
}

/* Keeps the tile's enclosures for whoever asks for them after the judgement. */
static void
keep(hu_enclosed *e, const hu_judge_state *s, const hu_tile *t)
{
	if (is_stretch(s, t) && t->n) {
		size_t at = place_of(s, t, 0) - e->first;
		memcpy(e->hi + at, t->hi, t->n * sizeof *t->hi);
		memcpy(e->lo + at, t->lo, t->n * sizeof *t->lo);
		memcpy(e->err + at, t->err, t->n * sizeof *t->err);
		return;
	}
	for (size_t i = 0; i < t->n; i++) {
		size_t at = place_of(s, t, i) - e->first;
		e->hi[at] = t->hi[i];
		e->lo[at] = t->lo[i];
		e->err[at] = t->err[i];
	}
}

void
hu_judge_tile(hu_sink *sink, const hu_tile *t)
{
	hu_judge_state *s = (hu_judge_state *)sink;
	const hu_judge_job *job = s->job;
	const hu_verdicts *verdicts = hu_verdicts_get();
	rest r = { 0, 0, hu_xmalloc((t->n + 1) * sizeof *r.left) };
	hu_verdict_block b;
	hu_judging some;

	hu_judging_init(&some, t->n, 0);
	if (job->enclosed)
		keep(job->enclosed, s, t);
	for (size_t i = 0; i < t->n; i += HU_VERDICT_BLOCK) {
		size_t n = t->n - i < HU_VERDICT_BLOCK ? t->n - i : HU_VERDICT_BLOCK, known = 0;
		if ((!job->engine->enclose && !s->sink.gives_exact) || job->hex) {
			for (size_t k = 0; k < n; k++)
				r.left[r.open++] = (hu_waiting){ place_of(s, t, i + k), t->bound ? t->bound[i + k] : 0,
					t->magnitude ? t->magnitude[i + k] : NAN };
			continue;
		}
		load(&b, s, t, i, n);
		verdicts->judge(&b, s->f.emin, s->f.p);
		for (size_t k = 0; k < HU_VERDICT_BLOCK; k++)
			known += b.known[k];
		if (known == HU_VERDICT_BLOCK && n == HU_VERDICT_BLOCK && is_stretch(s, t))
			settle_whole(s, &some, &r, t, &b, i);
		else
			settle(s, &some, &r, t, &b, i, n);
	}
#pragma omp critical(hu_judge_lists)
	{
		s->methods->exact += r.exact;
		s->methods->certified += some.n - r.exact;
		for (size_t i = 0; i < r.open; i++) {
			HU_GROW(s->w, s->nw, s->capw);
			s->w[s->nw++] = r.left[i];
		}
	}
	if (some.n)
		job->take(job->context, &some);
	hu_judging_release(&some);
	free(r.left);
}
