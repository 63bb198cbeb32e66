/* SPDX-License-Identifier: Apache-2.0
   The runs of a policy on some of the inputs as units of validate (validate_units.h). */
#include "analyzers/validate/validate_units.h"

#include "lib/base/mem.h"
#include "lib/base/parts/pack.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>

/* Sets what the constants of V take, a version of M that is or is not the file as it stands, where the file has codes:
   no policy changes these, and its numbers in floating point become shorter as all constants of V's program do. */
static void
count_codes(hu_version *v, const hu_imported *m, int as_it_stands)
{
	if (!(m->code_bytes > 0) || v->weight_bytes > 0)
		return;
	hu_version float32 = { .p = m->p, .bits = hu_xcalloc((size_t)m->p->nt + 1, sizeof *float32.bits) };
	double all = hu_evaluate_weight_bytes(&float32), now = as_it_stands ? all : hu_evaluate_weight_bytes(v);
	v->weight_bytes = m->code_bytes + m->float_bytes * (all > 0 && now < all ? now / all : 1);
	free(float32.bits);
}

hu_status
hu_validate_begin(hu_validate_job *j, size_t p, int merges)
{
	hu_judgement *row = &j->row[p];
	const hu_variant *policy = &j->policies->v[p];
	const hu_imported *m = policy->as ? policy->as : &j->net->m;
	hu_version v;

	if (j->begun && j->now != p) {
		hu_evaluate_end(&j->row[j->now].e);
		if (!merges)
			hu_evaluated_release(&j->row[j->now].e);
	}
	j->now = p;
	j->begun = 1;
	if (row->e.p)
		return HU_OK;
	row->policy = policy->name;
	hu_progress_note(&j->work.bar, "%.60s", row->policy);
	if (policy->tool)
		HU_TRY(hu_network_tool_version(&v, j->net, policy->tool, NULL));
	else
		HU_TRY(hu_variant_version(
			&v, policy, &j->net->m, j->net->ranges.range, &row->products, &row->quantised));
	count_codes(&v, m, !p || policy->as);
	return hu_evaluate_begin(&row->e, m, v, policy->by_node || policy->tool ? "" : policy->policy.accumulate,
		p ? j->sums : NULL, j->net->s.n, j->net->batch);
}

static int
merges(const hu_validate_job *j)
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

hu_status
hu_validate_run_compute(hu_validate_job *j, const hu_validate_unit *u, hu_str *found)
{
	hu_progress none = { .on = 0 };
	size_t first = u->first, last = u->last, p = u->policy;
	hu_pack r;

	HU_TRY(hu_validate_begin(j, p, merges(j)));
	hu_evaluated *e = &j->row[p].e;
	e->nonfinite = 0;
	e->first_call = -1;
	const hu_imported *m = j->policies->v[p].as ? j->policies->v[p].as : &j->net->m;
	HU_TRY(hu_evaluate_rows(e, m, &j->net->s, j->net->batch, first, last, &none));
	hu_pack_write(&r);
	pack(&r, e, first, last, &e->nonfinite, &e->first_call);
	hu_str_add(found, r.text.s);
	hu_pack_release(&r);
	return HU_OK;
}

hu_status
hu_validate_run_merge(hu_validate_job *j, const hu_validate_unit *u, const char *found)
{
	size_t first = u->first, last = u->last, p = u->policy, nonfinite = 0;
	int first_call = -1;
	hu_pack r;

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
