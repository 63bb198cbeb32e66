/* SPDX-License-Identifier: Apache-2.0
   Turns enclosures into verdicts. Tiles are judged as they arrive. Values that an enclosure leaves undecided go to the
   operator's reference at the end, and so does a small sample of the decided ones, as a check. */
#include <stdio.h> /* before mpfr.h */

#include "lib/judge/judge.h"
#include "lib/judge/verdict.h"

#include "lib/exact/judge.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/op/sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PRECISION = 256,   /* of exact values, before an operator raises it */
	CHUNK = 16384,     /* values held in MPFR at a time */
	AGAIN = 65536,     /* one value in so many is checked by MPFR, and at least one in each call, */
	/* except that of norms only one call in so many is, because each value needs a whole channel in MPFR */
	NORMS = 4
};

void
hu_ladder_add(hu_ladder *to, const hu_ladder *from)
{
	to->exact += from->exact;
	to->certified += from->certified;
	to->oracle += from->oracle;
	to->again += from->again;
}

/* Values that wait for the reference: undecided ones, and decided ones with the verdict v that it is to confirm. */
typedef struct waiting { size_t at; double bound, magnitude; } waiting;
typedef struct twice { size_t at; double hi, lo, err, bound; hu_ziv v; } twice;

typedef struct state {
	hu_sink sink;
	const hu_judge_job *job;
	hu_ladder *ladder;
	hu_format f;
	hu_region some;            /* the sink's value i is element i of this, or, where its last is 0, of the list */
	size_t stride, offset;     /* number offset + i stride of the list is checked by the reference */
	waiting *w;
	size_t nw, capw;
	twice *t;
	size_t nt, capt;
} state;

static size_t
element_of(const hu_judge_job *job, size_t at)
{
	return job->element ? job->element[at] : at;
}

static void
judging_init(hu_judging *some, size_t n, int hex)
{
	char *room = hu_xmalloc((n + 1) * (2 * sizeof(size_t) + 6 * sizeof(double) + 1));

	some->n = 0;
	some->at = (size_t *)(void *)room;
	some->element = some->at + n;
	some->got = (double *)(void *)(some->element + n);
	some->bound = some->got + n;
	some->magnitude = some->bound + n;
	some->exact = some->magnitude + n;
	some->error = some->exact + n;
	some->ulps = some->error + n;
	some->over = (unsigned char *)(void *)(some->ulps + n);
	some->hex = hex ? hu_xcalloc(n + 1, sizeof *some->hex) : NULL;
}

static void
judging_release(hu_judging *some)
{
	free(some->at);
	free(some->hex);
}

/* Stores verdict v as value i. */
static void
put(hu_judging *some, size_t i, const hu_ziv *v)
{
	some->exact[i] = v->exact;
	some->error[i] = v->error;
	some->ulps[i] = v->ulps;
	some->over[i] = v->over != 0;
}

/* The place in the list of value i of the tile. */
static size_t
place_of(const state *s, const hu_tile *t, size_t i)
{
	size_t at = t->at ? t->at[i] : t->first + i;

	return s->some.last ? hu_region_element(s->some, at) : at;
}

/* Whether the tile's values are of elements one behind another. */
static int
is_stretch(const state *s, const hu_tile *t)
{
	return !t->at && !s->job->element && !s->some.row;
}

/* Loads values i .. i+n-1 of the tile into b and fills the rest of the block with zeros. */
static void
load(hu_verdict_block *b, const state *s, const hu_tile *t, size_t i, size_t n)
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
			b->got[k] = hu_get(got, element_of(job, place_of(s, t, i + k)));
	}
	for (size_t k = n; k < HU_VERDICT_BLOCK; k++)
		b->hi[k] = b->lo[k] = b->err[k] = b->got[k] = b->bound[k] = 0;
}

/* What a tile yields besides its verdicts: how many values were exact, and those left open. */
typedef struct rest { size_t exact, open; waiting *left; } rest;

static void
judge_later(state *s, const hu_tile *t, size_t i, size_t at, double bound, const hu_ziv *v)
{
#pragma omp critical(hu_judge_lists)
	{
		HU_GROW(s->t, s->nt, s->capt);
		s->t[s->nt++] = (twice){ at, t->hi[i], t->lo[i], t->err[i], bound, *v };
	}
}

/* Appends the decided ones of n values of the tile, from i on, to some. */
static void
settle(state *s, hu_judging *some, rest *r, const hu_tile *t, const hu_verdict_block *b, size_t i, size_t n)
{
	const hu_judge_job *job = s->job;

	for (size_t k = 0; k < n; k++) {
		size_t at = place_of(s, t, i + k), to = some->n;
		hu_ziv v = { b->exact[k], b->rounded[k], b->error[k], b->ulps[k], (int)b->over[k] };
		if (!b->known[k] && !hu_ziv_enclosed(&v, b->hi[k], b->lo[k], b->err[k], b->got[k], b->bound[k], s->f)) {
			r->left[r->open++] = (waiting){ at, b->bound[k], t->magnitude ? t->magnitude[i + k] : NAN };
			continue;
		}
		r->exact += b->err[k] == 0;
		some->at[to] = at;
		some->element[to] = element_of(job, at);
		some->got[to] = b->got[k];
		some->bound[to] = isnan(b->bound[k]) ? INFINITY : b->bound[k];
		some->magnitude[to] = t->magnitude ? t->magnitude[i + k] : v.rounded;
		put(some, to, &v);
		some->n++;
		if (at % s->stride == s->offset)
			judge_later(s, t, i + k, at, b->bound[k], &v);
	}
}

/* The same for a block of contiguous values that are all decided, as most are. */
static void
settle_whole(state *s, hu_judging *some, rest *r, const hu_tile *t, const hu_verdict_block *b, size_t i)
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

static void
take(hu_sink *sink, const hu_tile *t)
{
	state *s = (state *)sink;
	const hu_judge_job *job = s->job;
	const hu_verdicts *verdicts = hu_verdicts_get();
	rest r = { 0, 0, hu_xmalloc((t->n + 1) * sizeof *r.left) };
	hu_verdict_block b;
	hu_judging some;

	judging_init(&some, t->n, 0);
	for (size_t i = 0; i < t->n; i += HU_VERDICT_BLOCK) {
		size_t n = t->n - i < HU_VERDICT_BLOCK ? t->n - i : HU_VERDICT_BLOCK, known = 0;
		if ((!job->engine->enclose && !s->sink.gives_exact) || job->hex) {
			for (size_t k = 0; k < n; k++)
				r.left[r.open++] = (waiting){ place_of(s, t, i + k), t->bound ? t->bound[i + k] : 0,
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
		s->ladder->exact += r.exact;
		s->ladder->certified += some.n - r.exact;
		for (size_t i = 0; i < r.open; i++) {
			HU_GROW(s->w, s->nw, s->capw);
			s->w[s->nw++] = r.left[i];
		}
	}
	if (some.n)
		job->take(job->context, &some);
	judging_release(&some);
	free(r.left);
}

static int
by_place(const void *a, const void *b)
{
	const waiting *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Computes n of the waiting values by the reference. */
static hu_status
by_reference(const state *s, const waiting *w, size_t n)
{
	const hu_judge_job *job = s->job;
	mpfr_t *exact = hu_xmalloc((n + 1) * sizeof *exact);
	hu_judging some;

	judging_init(&some, n, job->hex);
	some.n = n;
	for (size_t i = 0; i < n; i++) {
		mpfr_init2(exact[i], PRECISION);
		some.at[i] = w[i].at;
		some.element[i] = element_of(job, w[i].at);
		some.got[i] = hu_get(job->got, some.element[i]);
		some.bound[i] = isnan(w[i].bound) ? INFINITY : w[i].bound;
	}
	hu_status st = job->engine->exact(job->c, job->in, job->out, some.element, n, exact);
#pragma omp parallel for schedule(static) if (n > 256)
	for (size_t i = 0; i < (st == HU_OK ? n : 0); i++) {
		hu_ziv v;
		hu_ziv_mpfr(&v, exact[i], some.got[i], some.bound[i], s->f);
		put(&some, i, &v);
		some.magnitude[i] = isnan(w[i].magnitude) && !HU_COLUMN(job->c->op, magnitude)
			? v.rounded
			: w[i].magnitude;
		if (some.hex)
			mpfr_asprintf(&some.hex[i], "%Ra", exact[i]);
	}
	for (size_t i = 0; i < n; i++)
		mpfr_clear(exact[i]);
	free(exact);
	if (st == HU_OK)
		job->take(job->context, &some);
	judging_release(&some);
	return st;
}

static int
same(const hu_ziv *a, const hu_ziv *b)
{
	return a->exact == b->exact && a->rounded == b->rounded && a->error == b->error && a->ulps == b->ulps &&
	       a->over == b->over;
}

static void
disagree(const hu_judge_job *job, const twice *t, size_t element, mpfr_srcptr exact)
{
	const hu_call *c = job->c;

	for (int k = 0; k < c->nin; k++)
		if (job->in[k]->n == job->got->n || job->in[k]->n == 1)
			fprintf(stderr, "operand %d, element %zu: %a\n", k, element,
				hu_get(job->in[k], job->in[k]->n == 1 ? 0 : element));
		else
			for (size_t i = 0; i < job->in[k]->n && i < 4096; i++)
				fprintf(stderr, "operand %d, element %zu of %zu: %a\n", k, i, job->in[k]->n,
					hu_get(job->in[k], i));
	mpfr_fprintf(stderr, "enclosed: %a + %a within %a\nMPFR:     %Ra\n", t->hi, t->lo, t->err, exact);
	hu_mpfr_disagrees(__FILE__, __LINE__,
		"call %d, %s of layer %s, output %d: the certified value of element %zu and the reference give "
		"different verdicts",
		c->id, c->op->name, c->layer, job->out, element);
}

/* Checks the sampled values by MPFR alone. */
static hu_status
judge_twice(const state *s)
{
	const hu_judge_job *job = s->job;
	hu_status st = HU_OK;

#pragma omp parallel for schedule(dynamic, 1) if (s->nt > 1)
	for (size_t i = 0; i < s->nt; i++) {
		const twice *t = &s->t[i];
		size_t element = element_of(job, t->at);
		hu_ziv v;
		mpfr_t exact[1];
		mpfr_init2(exact[0], PRECISION);
		hu_status mine = HU_COLUMN(job->c->op, reference)(job->c, job->in, job->out, &element, 1, exact);
		if (mine == HU_OK) {
			hu_ziv_mpfr(&v, exact[0], hu_get(job->got, element), t->bound, s->f);
			if (!same(&v, &t->v))
				disagree(job, t, element, exact[0]);
		} else
#pragma omp atomic write
			st = mine;
		mpfr_clear(exact[0]);
	}
	s->ladder->again += s->nt;
	return st;
}

/* For an operator without enclosures: bounds and magnitudes of everything, values by the reference. */
static hu_status
without_enclosures(state *s)
{
	const hu_judge_job *job = s->job;
	const hu_op *op = job->c->op;
	hu_status st = HU_OK;
	hu_region all = { 0, job->n, 0, 0, 0 }, some = job->some.last ? job->some : all;
	size_t last = hu_region_count(some);

	for (size_t first = 0; first < last && st == HU_OK; first += CHUNK) {
		size_t n = last - first < CHUNK ? last - first : CHUNK, *element = hu_xmalloc(n * sizeof *element);
		double *b = hu_xcalloc(2 * n, sizeof *b), *m = b + n;
		for (size_t i = 0; i < n; i++)
			element[i] = element_of(job, hu_region_element(some, first + i));
		if (HU_COLUMN(op, bound))
			st = HU_COLUMN(op, bound)(job->c, job->in, job->out, element, n, b);
		if (st == HU_OK && HU_COLUMN(op, magnitude))
			st = HU_COLUMN(op, magnitude)(job->c, job->in, job->out, element, n, m);
		for (size_t i = 0; i < n; i++) {
			HU_GROW(s->w, s->nw, s->capw);
			s->w[s->nw++] = (waiting){ hu_region_element(some, first + i), b[i],
				HU_COLUMN(op, magnitude) ? m[i] : NAN };
		}
		free(element);
		free(b);
	}
	return st;
}

/* Has the operator enclose the values that are asked for. A contraction takes a region as it is, any other call as the
   list of its elements. */
static hu_status
enclose(state *s)
{
	const hu_judge_job *job = s->job;
	const hu_op *op = job->c->op;
	size_t n = hu_region_count(job->some), *element;

	if (!job->some.last || !HU_COLUMN(op, grain))
		return HU_COLUMN(op, enclose)(job->c, job->in, job->out, job->element, job->n, &s->sink);
	HU_ASSERT(!job->element);
	s->some = job->some;
	element = hu_xmalloc((n + 1) * sizeof *element);
	for (size_t i = 0; i < n; i++)
		element[i] = hu_region_element(job->some, i);
	hu_status st = HU_COLUMN(op, enclose)(job->c, job->in, job->out, element, n, &s->sink);
	free(element);
	return st;
}

hu_status
hu_judge_each(const hu_judge_job *job, hu_ladder *ladder)
{
	uint64_t draw =
		hu_mix64(job->seed ^ hu_mix64((uint64_t)(unsigned)job->c->id * 64 + (uint64_t)(unsigned)job->out));
	state s = { .job = job,
		.ladder = ladder,
		.f = hu_format_of(job->got->format),
		.sink = { .take = take, .bounds = 1, .memo = job->memo ? *job->memo : NULL,
			.some = job->some } };
	hu_status st;

	/* One output of each call has a value that is checked for certain; the intermediate results that outputs share
	   are costly in MPFR. */
	uint64_t pick = hu_mix64(job->seed ^ (uint64_t)(unsigned)job->c->id);
	int sure = (int)(pick % (uint64_t)(job->c->nout > 0 ? job->c->nout : 1)) == job->out &&
		   (job->c->op->cls != HU_CLASS_NORM || (pick >> 32) % NORMS == 0);
	s.sink.want_exact = job->engine->products && !job->element && !job->hex;
	s.stride = job->n < AGAIN && sure && job->n ? job->n : AGAIN;
	s.offset = draw % s.stride;
	st = HU_COLUMN(job->c->op, enclose) ? enclose(&s) : without_enclosures(&s);
	if (job->memo)
		*job->memo = s.sink.memo;
	else
		hu_sink_forget(&s.sink);
	if (s.nw)
		qsort(s.w, s.nw, sizeof *s.w, by_place);
	for (size_t at = 0; at < s.nw && st == HU_OK; at += CHUNK)
		st = by_reference(&s, s.w + at, s.nw - at < CHUNK ? s.nw - at : CHUNK);
	ladder->oracle += s.nw;
	if (st == HU_OK && s.nt)
		st = judge_twice(&s);
	free(s.w);
	free(s.t);
	return st;
}
