/* SPDX-License-Identifier: Apache-2.0
   What all kinds of validate's units need (validate_units.h): policies made ready to run, and the list of units. */
#include "analyzers/validate/validate_units.h"

#include "lib/base/mem.h"

hu_status
hu_validate_begin(hu_validate_job *j, size_t p, int joins)
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

void
hu_validate_add(hu_validate_job *j, hu_validate_unit u, double cost)
{
	int n = j->work.n;

	if (n == j->cap) {
		HU_GROW(j->unit, n, j->cap);
		j->cost = hu_xrealloc(j->cost, (size_t)j->cap * sizeof *j->cost);
		j->policy = hu_xrealloc(j->policy, (size_t)j->cap * sizeof *j->policy);
	}
	j->unit[n] = u;
	j->cost[n] = cost;
	j->policy[n] = (int)u.policy;
	j->work.n++;
}
