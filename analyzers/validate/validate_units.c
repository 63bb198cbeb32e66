/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/validate_units.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/parts/pack.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Sets the inputs of unit i: policy i / pieces on those from *first to *last - 1, whole batches. */
static size_t
inputs_of(const hu_validate_job *j, int i, size_t *first, size_t *last)
{
	size_t n = j->net->s.n, batch = j->net->batch, batches = (n + batch - 1) / batch, k = (size_t)i % j->pieces;

	*first = k * batches / j->pieces * batch;
	*last = (k + 1) * batches / j->pieces * batch;
	if (*last > n)
		*last = n;
	return (size_t)i / j->pieces;
}

/* Makes policy p ready to run. A process that joins nothing keeps one policy's outputs at a time. */
static hu_status
begin(hu_validate_job *j, size_t p, int joins)
{
	hu_judgement *row = &j->row[p];
	const hu_variant *policy = &j->policies->v[p];
	hu_version v;

	if (j->begun && j->now != p) {
		hu_evaluate_end(&j->row[j->now].e);
		if (!joins)
			hu_evaluated_release(&j->row[j->now].e);
	}
	j->now = p;
	j->begun = 1;
	if (row->e.p)
		return HU_OK;
	row->policy = policy->name;
	hu_progress_note(&j->work.bar, "%.60s", row->policy);
	HU_TRY(hu_variant_version(&v, policy, &j->net->m, j->net->ranges.range, &row->products, &row->quantised));
	return hu_evaluate_begin(&row->e, &j->net->m, v, policy->by_node ? "" : policy->policy.accumulate,
		p ? j->sum : NULL, j->net->s.n, j->net->batch);
}

static int
joins(const hu_validate_job *j)
{
	return !hu_args_given(j->args, "shard") && !hu_ranks_rank();
}

/* Passes a unit's outputs through a record, with its count of what is not finite and the first call that made such. */
static void
pack(hu_pack *r, hu_evaluated *e, size_t first, size_t last, size_t *nonfinite, int *first_call)
{
	hu_pack_size(r, nonfinite);
	hu_pack_int(r, first_call);
	for (size_t k = 0; k < e->nout; k++)
		hu_pack_reals(r, e->out[k] + first * e->each[k], (last - first) * e->each[k]);
}

static hu_status
study(void *of, int i, hu_str *found)
{
	hu_validate_job *j = of;
	hu_progress none = { .on = 0 };
	size_t first, last, p = inputs_of(j, i, &first, &last);
	hu_pack r;

	HU_TRY(begin(j, p, joins(j)));
	hu_evaluated *e = &j->row[p].e;
	e->nonfinite = 0;
	e->first_call = -1;
	HU_TRY(hu_evaluate_rows(e, &j->net->m, &j->net->s, j->net->batch, first, last, &none));
	hu_pack_write(&r);
	pack(&r, e, first, last, &e->nonfinite, &e->first_call);
	hu_str_add(found, r.text.s);
	hu_pack_release(&r);
	return HU_OK;
}

static hu_status
join(void *of, int i, const char *found)
{
	hu_validate_job *j = of;
	size_t first, last, p = inputs_of(j, i, &first, &last), nonfinite = 0;
	int first_call = -1;
	hu_pack r;

	HU_TRY(begin(j, p, 1));
	hu_evaluated *e = &j->row[p].e;
	hu_pack_read(&r, found);
	pack(&r, e, first, last, &nonfinite, &first_call);
	hu_status st = hu_pack_end(&r, j->row[p].policy);
	hu_pack_release(&r);
	HU_TRY(st);
	j->found.nonfinite = (first ? j->found.nonfinite : 0) + nonfinite;
	if (!first || (first_call >= 0 && (j->found.first_call < 0 || first_call < j->found.first_call)))
		j->found.first_call = first_call;
	if (last < j->net->s.n)
		return HU_OK;
	e->nonfinite = j->found.nonfinite;
	e->first_call = j->found.first_call;
	hu_evaluate_end(e);
	return j->judged(j->of, p);
}

static char *
name_of(const void *of, int i)
{
	size_t first, last, p = inputs_of(of, i, &first, &last);

	return hu_xprintf("%zu.%zu", p, first);
}

static void
cut(hu_validate_job *j)
{
	const hu_program *p = j->net->m.p;
	size_t batches = (j->net->s.n + j->net->batch - 1) / j->net->batch;
	double each = 1e-6;

	j->pieces = batches < HU_VALIDATE_PIECES ? batches : HU_VALIDATE_PIECES;
	j->work.n = (int)(j->policies->n * j->pieces);
	j->cost = hu_xcalloc((size_t)j->work.n + 1, sizeof *j->cost);
	j->policy = hu_xcalloc((size_t)j->work.n + 1, sizeof *j->policy);
	for (int i = 0; i < p->nc; i++)
		each += hu_call_cost(p, &p->c[i]).flops * 1e-9; /* seconds of a batch on a core, about */
	for (int i = 0; i < j->work.n; i++) {
		size_t first, last;
		j->policy[i] = (int)inputs_of(j, i, &first, &last);
		j->cost[i] = each * (double)((last - first + j->net->batch - 1) / j->net->batch);
	}
}

hu_status
hu_validate_share(hu_validate_job *j, hu_sharing *s, hu_status st, int *ends)
{
	const char *report = hu_args_text(j->args, "report");

	j->place = report ? hu_xstrdup(report) : hu_network_place("validate", j->args);
	j->folder = hu_path(j->place, "parts");
	if (st == HU_OK)
		st = hu_network_work(&j->text, j->args,
			"labels accept output top-k sensitivity sensitivity-inputs exact outputs report tap");
	if (st == HU_OK)
		cut(j);
	j->work.command = "validate";
	j->work.text = j->text;
	j->work.folder = j->folder;
	j->work.place = j->place;
	j->work.cost = j->cost;
	j->work.group = j->policy;
	j->work.name = name_of;
	j->work.study = study;
	j->work.join = join;
	j->work.of = j;
	return hu_share_out(s, &j->work, j->args, st, ends);
}

void
hu_validate_job_release(hu_validate_job *j)
{
	free(j->cost);
	free(j->policy);
	free(j->text);
	free(j->folder);
	free(j->place);
}
