/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/underflow/underflow_call.h"

#include "lib/base/mem.h"
#include "lib/judge/parts/packs.h"
#include "lib/op/ranks/over_ranks.h"

#include <stdlib.h>

enum { BLOCK = 256 }; /* elements at a time */

static int
narrower(hu_format_id to, hu_format_id from)
{
	hu_format a = hu_format_of(to), b = hu_format_of(from);

	return a.p < b.p || a.emin > b.emin;
}

void
hu_underflow_call_formats(
	const hu_program *p, const hu_call *c, int k, hu_format_id *from, hu_format_id *to, size_t *of)
{
	int wire = k == c->nout, cast = c->op->role == HU_ROLE_CAST;

	*from = wire || cast ? p->t[c->in[0]].format : c->fmt.compute;
	*to = wire ? hu_over_ranks_wire(c) : p->t[c->out[k]].format;
	*of = wire ? (size_t)c->nin * hu_count(p->t[c->in[0]].shape) : hu_count(p->t[c->out[k]].shape);
}

/* Counts a cast, exactly, from its recorded input. */
static int
by_cast(hu_flush *u, const hu_call *c, const hu_trace *t, hu_region some)
{
	const hu_tensor *x = &t->t[c->in[0]], *y = &t->t[c->out[0]];
	hu_format f = hu_format_of(y->format);
	double s = 1;

	if (!x->data || (c->nout > 1 && !t->t[c->out[1]].data))
		return 0;
	if (c->nout > 1)
		s = hu_get(&t->t[c->out[1]], 0); /* a power of two: the product is exact */
	for (size_t first = some.first; first < some.last; first += BLOCK) {
		double before[BLOCK], after[BLOCK];
		size_t n = some.last - first < BLOCK ? some.last - first : BLOCK;
		for (size_t i = 0; i < n; i++) {
			before[i] = hu_get(x, first + i) * s;
			after[i] = hu_get(y, first + i);
		}
		hu_flush_add_all(u, before, after, n, f);
	}
	return 1;
}

/* Counts what every rank's own sums lose as they are sent for the first time. */
static int
by_wire(hu_flush *u, hu_analysis *a, const hu_trace *t, const hu_call *c, size_t first, size_t last)
{
	hu_env env = { (uint64_t)json_integer_value(json_object_get(a->run->manifest, "seed")), (uint32_t)t->step };
	hu_format f = hu_format_of(hu_over_ranks_wire(c));
	hu_tensor *in[HU_OVER_RANKS];

	for (int k = 0; k < c->nin; k++) {
		in[k] = &t->t[c->in[k]];
		if (!in[k]->data)
			return 0;
	}
	for (int k = 0; k < c->nin; k++)
		for (size_t i = first; i < last; i++)
			hu_flush_add(u, hu_get(in[k], i), hu_over_ranks_sent(c, in, k, i, &env), f);
	return 1;
}

static void
count(hu_underflow_call_part *part, const hu_judged *j, hu_format_id to, hu_methods *methods)
{
	part->there = 1;
	hu_methods_add(methods, &j->methods);
	hu_flush_add_all(&part->u, j->exact, j->got, j->n, hu_format_of(to));
}

/* Judges some elements of output k and counts them. */
static hu_status
by_tile(hu_underflow_call_part *part, hu_analysis *a, hu_trace *t, const hu_call *c, int k, hu_region some,
	hu_memo **memo, hu_methods *methods)
{
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	hu_status st = HU_OK;
	hu_judged *j = NULL;
	hu_judge_job job;
	size_t *element = NULL;

	if (t->judged[c->out[k]]) { /* by replay, which saw this unit before */
		count(part, t->judged[c->out[k]], t->t[c->out[k]].format, methods);
		free(in);
		return HU_OK;
	}
	part->there = hu_analysis_job(a, t, c->out[k], in, &element, &job);
	if (part->there && hu_region_count(some)) {
		job.some = some;
		job.memo = memo;
		st = hu_judged_new(&job, &j);
	}
	if (j)
		count(part, j, job.got->format, methods);
	hu_judged_free(j);
	free(element);
	free(in);
	return st;
}

/* Counts output k, if it is rounded to a narrower format. */
static hu_status
compute(hu_underflow_call_part *part, hu_analysis *a, hu_trace *t, const hu_work_unit *u, int k, hu_memo **memo,
	hu_methods *methods)
{
	const hu_call *c = &a->run->train->c[u->call];
	hu_format_id from, to;
	const hu_judged *j;
	size_t of;

	hu_underflow_call_formats(a->run->train, c, k, &from, &to, &of);
	if (!t->t[c->out[k]].data || !narrower(to, from))
		return HU_OK;
	hu_region some = hu_analysis_part(a, u, k);
	if (c->op->role == HU_ROLE_CAST) {
		part->there = k == 0 && by_cast(&part->u, c, t, some);
		return HU_OK;
	}
	if (u->tiles > 1)
		return by_tile(part, a, t, c, k, some, memo, methods);
	HU_TRY(hu_analysis_judge(a, t, c->out[k], NULL, &j));
	if (j)
		count(part, j, to, methods);
	return HU_OK;
}

hu_status
hu_underflow_call_compute(
	hu_analysis *a, hu_trace *t, const hu_work_unit *u, hu_underflow_call_part *part, hu_methods *methods)
{
	const hu_program *p = a->run->train;
	const hu_call *c = &p->c[u->call];
	hu_memo *memo = NULL;
	hu_status st = HU_OK;

	if (c->op->role == HU_ROLE_ALL_REDUCE && narrower(hu_over_ranks_wire(c), p->t[c->in[0]].format)) {
		hu_region some = hu_analysis_part(a, u, 0);
		part[c->nout].there = by_wire(&part[c->nout].u, a, t, c, some.first, some.last);
	}
	for (int k = 0; k < c->nout && st == HU_OK; k++)
		st = compute(&part[k], a, t, u, k, &memo, methods);
	if (memo)
		memo->release(memo);
	return st;
}

void
hu_underflow_call_flush(hu_pack *r, hu_flush *u)
{
	hu_pack_count(r, &u->count.elements);
	hu_pack_count(r, &u->count.nonzeros);
	hu_pack_count(r, &u->count.zeroed);
	hu_pack_count(r, &u->count.subnormal);
	hu_pack_count(r, &u->count.lost);
	hu_pack_count(r, &u->count.flushed);
	hu_pack_size(r, &u->overflow);
	hu_pack_harm(r, &u->harm);
}

void
hu_underflow_call_pack(hu_pack *r, hu_underflow_call_part *part, int n)
{
	for (int k = 0; k < n; k++) {
		hu_pack_int(r, &part[k].there);
		if (part[k].there)
			hu_underflow_call_flush(r, &part[k].u);
	}
}

void
hu_underflow_call_merge(hu_underflow_call_part *to, const hu_underflow_call_part *part, int n)
{
	for (int k = 0; k < n; k++) {
		to[k].there |= part[k].there;
		hu_flush_merge(&to[k].u, &part[k].u);
	}
}
