/* SPDX-License-Identifier: Apache-2.0
   The exact network as units of validate (validate_units.h), which follow from the flips of all policies. */
#include "analyzers/validate/validate_units.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>

/* Operations that the exact network may take in all where --exact does not say on how many inputs it is run: pairs of
   doubles do one or two thousand million a second on a core, so these take ten or twenty seconds. */
#define EXACT_OPERATIONS 2e10

/* A model that cannot take one input alone has no exact network. */
hu_status
hu_validate_exact_limit(hu_validate_job *j, int given, double *too_long)
{
	size_t one = 1;
	double each = 0;

	if (!j->exact)
		return HU_OK;
	HU_TRY(hu_network_import(j->net, &j->one, &one));
	for (int i = 0; i < j->one.p->nc; i++)
		each += hu_call_cost(j->one.p, &j->one.p->c[i]).flops;
	if (one > 1)
		j->exact = 0;
	else if (!given && (double)j->exact * each > EXACT_OPERATIONS) {
		j->exact = (size_t)(EXACT_OPERATIONS / each);
		*too_long = j->exact ? 0 : each;
	}
	j->exact = j->exact < j->net->s.n ? j->exact : j->net->s.n;
	j->exact_s = each / 1e9;
	return HU_OK;
}

/* Gives all ranks float32's outputs and which inputs flip, which rank 0 knows. */
static hu_status
hand_round(hu_validate_job *j, char *flipped)
{
	hu_evaluated *e = &j->row[0].e;

	if (hu_ranks_rank())
		HU_TRY(hu_validate_begin(j, 0, 1));
	hu_ranks_broadcast(0, flipped, j->net->s.n);
	for (size_t k = 0; k < e->nout; k++)
		hu_ranks_broadcast(0, e->out[k], e->n * e->each[k] * sizeof **e->out);
	return HU_OK;
}

hu_status
hu_validate_exact_ready(void *of)
{
	hu_validate_job *j = of;
	const hu_network *net = j->net;
	char *flipped = hu_xcalloc(net->s.n + 1, 1);

	for (size_t i = 1; i < j->policies->n && !hu_ranks_rank(); i++)
		for (size_t k = 0; k < net->s.n; k++)
			flipped[k] |= j->row[i].r.flipped[k];
	hu_status st = hand_round(j, flipped);
	if (st == HU_OK)
		st = hu_exact_trial_open(&j->trial, &j->one, &j->row[0].e, j->d, &net->s, flipped, j->exact,
			hu_args_given(j->args, "outputs") > 0);
	free(flipped);
	return st;
}

hu_status
hu_validate_exact_compute(hu_validate_job *j, size_t i, hu_str *found)
{
	hu_pack r;

	hu_progress_note(&j->work.bar, "exact network");
	HU_TRY(hu_exact_trial_run(j->trial, i));
	hu_pack_write(&r);
	hu_exact_trial_pack(&r, j->trial, i);
	hu_str_add(found, r.text.s);
	hu_pack_release(&r);
	return HU_OK;
}

hu_status
hu_validate_exact_merge(hu_validate_job *j, size_t i, const char *found)
{
	hu_pack r;

	hu_pack_read(&r, found);
	hu_exact_trial_pack(&r, j->trial, i);
	hu_status st = hu_pack_end(&r, "the exact network");
	hu_pack_release(&r);
	return st;
}

hu_status
hu_validate_exact_together(hu_validate_job *j)
{
	hu_progress bar;

	if (!j->exact || hu_ranks_size() == 1)
		return HU_OK;
	HU_TRY(hu_validate_exact_ready(j));
	hu_progress_start(&bar, "exact network", j->exact);
	hu_status st = hu_exact_trial_together(j->trial, &bar);
	hu_progress_end(&bar);
	return st;
}
