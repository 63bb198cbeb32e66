/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/advise_units.h"

#include "lib/base/mem.h"
#include "lib/base/parts/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets the inputs of unit i, whole batches of the half that is searched on; returns its scheme. */
static size_t
inputs_of(const hu_advise_job *j, int i, size_t *first, size_t *last)
{
	size_t n = j->s->half[0].n, batch = j->s->batch, batches = (n + batch - 1) / batch, k = (size_t)i % j->pieces;

	*first = k * batches / j->pieces * batch;
	*last = (k + 1) * batches / j->pieces * batch;
	if (*last > n)
		*last = n;
	return (size_t)i / j->pieces;
}

static void
pack(hu_pack *r, hu_damage *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		hu_pack_real(r, &d[i].error);
		hu_pack_real(r, &d[i].all);
	}
}

static hu_status
compute(void *of, int i, hu_str *found)
{
	hu_advise_job *j = of;
	hu_damage *damage = hu_xcalloc(j->s->n + 1, sizeof *damage);
	size_t first, last, k = inputs_of(j, i, &first, &last);
	hu_status st = hu_search_damage(j->s, k, first, last, damage);

	if (st == HU_OK) {
		hu_pack r;
		hu_pack_write(&r);
		pack(&r, damage, j->s->n);
		hu_str_add(found, r.text.s);
		hu_pack_release(&r);
	}
	free(damage);
	return st;
}

/* The square of the relative error; a node that makes what is not finite is worst. */
static double
badness(const hu_damage *d)
{
	double rel = hu_damage_rel(d);

	return rel * rel >= 0 ? rel * rel : INFINITY;
}

static hu_status
merge(void *of, int i, const char *found)
{
	hu_advise_job *j = of;
	hu_damage *damage = hu_xcalloc(j->s->n + 1, sizeof *damage);
	size_t first, last, k = inputs_of(j, i, &first, &last);
	hu_pack r;

	hu_pack_read(&r, found);
	pack(&r, damage, j->s->n);
	hu_status st = hu_pack_end(&r, "a scheme's unit");
	hu_pack_release(&r);
	for (size_t m = 0; m < j->s->n && st == HU_OK; m++) {
		hu_damage *sum = &j->sum[m];
		sum->error = (first ? sum->error : 0) + damage[m].error;
		sum->all = (first ? sum->all : 0) + damage[m].all;
		if (last == j->s->half[0].n)
			j->s->decision[m].damage[k + 1] = badness(sum);
	}
	free(damage);
	return st;
}

static char *
name_of(const void *of, int i)
{
	size_t first, last, k = inputs_of(of, i, &first, &last);

	return hu_xprintf("%zu.%zu", k, first);
}

/* A node alone is what lies behind it, half of the program on average. */
static void
cut(hu_advise_job *j)
{
	const hu_program *p = j->s->m->p;
	size_t batches = (j->s->half[0].n + j->s->batch - 1) / j->s->batch;
	double each = 1e-6;

	j->pieces = batches < HU_ADVISE_PIECES ? batches : HU_ADVISE_PIECES;
	j->work.n = (int)(j->s->nscheme * j->pieces);
	j->cost = hu_xcalloc((size_t)j->work.n + 1, sizeof *j->cost);
	j->scheme = hu_xcalloc((size_t)j->work.n + 1, sizeof *j->scheme);
	j->sum = hu_xcalloc(j->s->n + 1, sizeof *j->sum);
	for (int i = 0; i < p->nc; i++)
		each += hu_call_cost(p, &p->c[i]).flops * 1e-9 * (1 + 0.5 * (double)j->s->n);
	for (int i = 0; i < j->work.n; i++) {
		size_t first, last;
		j->scheme[i] = (int)inputs_of(j, i, &first, &last);
		j->cost[i] = each * (double)((last - first + j->s->batch - 1) / j->s->batch);
	}
}

hu_status
hu_advise_share(hu_advise_job *j, hu_sharing *s, hu_status st, int *ends)
{
	st = hu_network_parts_init(&j->parts, &j->work, "advise", hu_args_text(j->args, "out"), j->args,
		"labels accept by device out top-k output", st);
	if (st == HU_OK)
		cut(j);
	j->work.cost = j->cost;
	j->work.group = j->scheme;
	j->work.name = name_of;
	j->work.compute = compute;
	j->work.merge = merge;
	j->work.of = j;
	return hu_share_out(s, &j->work, j->args, st, ends);
}

void
hu_advise_job_release(hu_advise_job *j)
{
	free(j->cost);
	free(j->scheme);
	free(j->sum);
	hu_network_parts_release(&j->parts);
}
