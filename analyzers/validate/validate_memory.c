/* SPDX-License-Identifier: Apache-2.0
   What validate cannot do without: a model whose outputs, or whose largest value in the exact network, cannot fit is
   refused before it is run. */
#include "analyzers/validate/validate_units.h"

#include "analyzers/validate/exact/exact_network.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"

/* Outputs of one policy on all inputs as doubles, and the text of a batch's, in which each takes at least 8 letters. */
static double
outputs(const hu_validate_job *j, double policies)
{
	const hu_imported *m = &j->net->m;
	double all = 0;

	for (size_t k = 0; k < m->nout; k++)
		all += (double)hu_count(m->p->t[m->out[k].tensor].shape);
	return 8 * all * (policies * (double)j->net->s.n / (double)j->net->batch + 1);
}

hu_status
hu_validate_fits(const hu_validate_job *j)
{
	double most = (double)hu_memory_limit(), largest = 0,
	       kept = outputs(j, hu_args_given(j->args, "shard") ? 1 : (double)j->policies->n);

	for (int i = 0; i < j->net->m.p->nt; i++) {
		const hu_info *t = &j->net->m.p->t[i];
		double bytes = (double)hu_count(t->shape) * (double)hu_element_size(t->format);
		largest = bytes > largest ? bytes : largest;
	}
	double need = kept + largest, exact = j->exact ? kept + hu_exact_trial_bytes(&j->one) : 0;
	if (need > most || exact > most)
		return hu_fail(HU_ENOMEM,
			"the model's values and outputs need %.0f MB%s, and %.0f MB are possible: give fewer inputs or "
			"policies, or let it take more memory (--max-memory)",
			(need > most ? need : exact) / 1e6, need > most ? "" : " for the exact network", most / 1e6);
	return HU_OK;
}
