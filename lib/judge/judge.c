/* SPDX-License-Identifier: Apache-2.0
   Turns enclosures into verdicts. Tiles are judged as they arrive (judge_tile.c). Values that an enclosure leaves
   undecided go to the operator's reference at the end, and so does a small sample of the decided ones, as a check
   (judge_reference.c). */
#include "lib/judge/judge.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/exact/judge.h"
#include "lib/judge/judge_parts.h"

#include <math.h>
#include <stdlib.h>

enum {
	CHUNK = 16384, /* values held in MPFR at a time */
	AGAIN = 65536, /* one value in so many is checked by MPFR, and at least one in each call, */
	/* except that of norms only one call in so many is, because each value needs a whole channel in MPFR */
	NORMS = 4,
	TERMS = 1 << 13 /* of a loss that is checked whichever outputs its call has */
};

static int
by_place(const void *a, const void *b)
{
	const hu_waiting *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* For an operator without enclosures: bounds and magnitudes of everything, values by the reference. */
static hu_status
without_enclosures(hu_judge_state *s)
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
			element[i] = hu_judge_element(job, hu_region_element(some, first + i));
		if (HU_COLUMN(op, bound))
			st = HU_COLUMN(op, bound)(job->c, job->in, job->out, element, n, b);
		if (st == HU_OK && HU_COLUMN(op, magnitude))
			st = HU_COLUMN(op, magnitude)(job->c, job->in, job->out, element, n, m);
		for (size_t i = 0; i < n; i++) {
			HU_GROW(s->w, s->nw, s->capw);
			s->w[s->nw++] = (hu_waiting){ hu_region_element(some, first + i), b[i],
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
enclose(hu_judge_state *s)
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

int
hu_judge_drawn(const hu_call *c, hu_tensor *const *in, uint64_t draw)
{
	int first = c->op->cls == HU_CLASS_LOSS && c->nout > 1 && in[0]->n > TERMS;

	return c->nout > 0 ? first + (int)(draw % (uint64_t)(c->nout - first)) : 0;
}

hu_status
hu_judge_each(const hu_judge_job *job, hu_methods *methods)
{
	uint64_t draw =
		hu_mix64(job->seed ^ hu_mix64((uint64_t)(unsigned)job->c->id * 64 + (uint64_t)(unsigned)job->out));
	hu_judge_state s = {
		.job = job,
		.methods = methods,
		.f = hu_format_of(job->got->format),
		.sink = { .take = hu_judge_tile, .bounds = 1, .memo = job->memo ? *job->memo : NULL, .some = job->some }
	};
	unsigned long long disagreed = hu_exact_disagreements();
	hu_status st;

	/* One output of each call has a value that is checked for certain; the intermediate results that outputs share
	   are costly in MPFR. */
	uint64_t pick = hu_mix64(job->seed ^ (uint64_t)(unsigned)job->c->id);
	int sure = hu_judge_drawn(job->c, job->in, pick) == job->out &&
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
		st = hu_judge_by_reference(&s, s.w + at, s.nw - at < CHUNK ? s.nw - at : CHUNK);
	methods->oracle += s.nw;
	if (st == HU_OK && s.nt)
		st = hu_judge_twice(&s);
	free(s.w);
	free(s.t);
	return hu_exact_agreed(st, disagreed, job->c->op->name, job->c->id);
}
