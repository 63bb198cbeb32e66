/* SPDX-License-Identifier: Apache-2.0
   What validate cannot do without: a model whose outputs, or whose largest value in the exact network, cannot fit is
   refused before it is run. */
#include "analyzers/validate/validate_units.h"

#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/exact/dd/dd.h"
#include "lib/judge/doubles/doubles.h"

#include <stdlib.h>

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

/* Bytes that a trial of M by the exact network takes at least: all tensors, and of the largest that is only moved its
   pairs with bounds. */
static double
exact_bytes(const hu_imported *m)
{
	double all = 0, most = 0;
	char *keep = hu_xcalloc((size_t)m->p->nt + 1, 1);

	for (size_t k = 0; k < m->nout; k++)
		keep[m->out[k].tensor] = 1;
	for (int i = 0; i < m->p->nt; i++)
		all += (double)hu_count(m->p->t[i].shape) * (double)hu_element_size(m->p->t[i].format);
	for (int i = 0; i < m->p->nc; i++) {
		const hu_call *c = &m->p->c[i];
		double n = c->op->moves ? (double)hu_count(m->p->t[c->out[0]].shape) : 0;
		most = n > most ? n : most;
	}
	int pairs = !hu_doubles_serve(m->p, keep);
	free(keep);
	return all + (pairs ? most * sizeof(hu_dd) : 0);
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
	double need = kept + largest, exact = j->exact ? kept + exact_bytes(&j->one) : 0;
	if (need > most || exact > most)
		return hu_fail(HU_ENOMEM,
			"the model's values and outputs need %.0f MB%s, and %.0f MB are possible: give fewer inputs or "
			"policies, or let it take more memory (--max-memory)",
			(need > most ? need : exact) / 1e6, need > most ? "" : " for the exact network", most / 1e6);
	return HU_OK;
}
