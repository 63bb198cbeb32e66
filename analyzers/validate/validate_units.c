/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/validate_units.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/parts/pack.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

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
	const hu_validate_unit *u = &j->unit[i];
	size_t first = u->first, last = u->last, p = u->policy;
	hu_pack r;

	if (u->kind == HU_VALIDATE_EXACT)
		return hu_validate_exact_study(j, u->first, found);
	if (u->kind != HU_VALIDATE_RUN)
		return hu_validate_nodes_study(j, u, found);
	HU_TRY(hu_validate_begin(j, p, joins(j)));
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
	const hu_validate_unit *u = &j->unit[i];
	size_t first = u->first, last = u->last, p = u->policy, nonfinite = 0;
	int first_call = -1;
	hu_pack r;

	if (u->kind == HU_VALIDATE_EXACT)
		return hu_validate_exact_join(j, u->first, found);
	if (u->kind != HU_VALIDATE_RUN)
		return hu_validate_nodes_join(j, u, found);
	HU_TRY(hu_validate_begin(j, p, 1));
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
	const hu_validate_job *j = of;
	const hu_validate_unit *u = &j->unit[i];

	switch (u->kind) {
	case HU_VALIDATE_RUN: return hu_xprintf("%zu.%zu", u->policy, u->first);
	case HU_VALIDATE_EXACT: return hu_xprintf("exact.%zu.%zu", j->d->output, u->first);
	case HU_VALIDATE_SURVEY: return hu_xprintf("%zu.nodes.%zu", u->policy, j->surveyed);
	default: return hu_xprintf("%zu.nodes.%zu.%zu.%zu", u->policy, j->surveyed, u->batch, u->first);
	}
}

/* Runs of all policies come first, whole batches each; then the nodes of one policy after another. */
static hu_status
cut(hu_validate_job *j)
{
	const hu_program *p = j->net->m.p;
	size_t n = j->net->s.n, batch = j->net->batch, batches = (n + batch - 1) / batch,
	       pieces = batches < HU_VALIDATE_PIECES ? batches : HU_VALIDATE_PIECES;
	double each = 1e-6;

	for (int i = 0; i < p->nc; i++)
		each += hu_call_cost(p, &p->c[i]).flops * 1e-9; /* seconds of a batch on a core, about */
	for (size_t i = 0; i < j->policies->n; i++)
		for (size_t k = 0; k < pieces; k++) {
			size_t from = k * batches / pieces, to = (k + 1) * batches / pieces;
			hu_validate_unit u = { HU_VALIDATE_RUN, i, 0, from * batch, to < batches ? to * batch : n };
			hu_validate_add(j, u, each * (double)(to - from));
		}
	for (size_t i = 1; i < j->policies->n && j->surveyed; i++)
		if (j->policies->v[i].by_node)
			HU_TRY(hu_validate_nodes_cut(j, i, each));
	j->work.late = hu_ranks_size() > 1 ? 0 : (int)j->exact;
	for (size_t i = 0; i < (size_t)j->work.late; i++)
		hu_validate_add(j, (hu_validate_unit){ .kind = HU_VALIDATE_EXACT, .first = i }, j->exact_s);
	return HU_OK;
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
		st = cut(j);
	j->work.command = "validate";
	j->work.text = j->text;
	j->work.folder = j->folder;
	j->work.place = j->place;
	j->work.cost = j->cost;
	j->work.group = j->policy;
	j->work.name = name_of;
	j->work.study = study;
	j->work.join = join;
	j->work.ready = hu_validate_exact_ready;
	j->work.of = j;
	return hu_share_out(s, &j->work, j->args, st, ends);
}

void
hu_validate_job_release(hu_validate_job *j)
{
	hu_sensitivity_run_close(j->sensing);
	hu_exact_trial_close(j->trial);
	if (j->one.p)
		hu_imported_release(&j->one);
	free(j->unit);
	free(j->cost);
	free(j->policy);
	free(j->text);
	free(j->folder);
	free(j->place);
}
