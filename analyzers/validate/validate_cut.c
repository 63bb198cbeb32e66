/* SPDX-License-Identifier: Apache-2.0
   How validate's work is cut into units (validate_units.h), and what each is expected to cost. */
#include "analyzers/validate/validate_units.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"

static void
add_unit(hu_validate_job *j, hu_validate_unit u, double cost)
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

/* A unit has a run of every input, high and low, in about half of the calls for each node; the survey has those of
   float32 and of all nodes low, twice. */
static hu_status
cut_nodes(hu_validate_job *j, size_t p, double each)
{
	size_t batches = hu_sensitivity_run_batches(j->surveyed, j->net->batch), parts = HU_VALIDATE_NODES / batches;
	hu_sensitivity *r = j->row[p].sensitivity = hu_xcalloc(1, sizeof *r);

	HU_TRY(hu_sensitivity_list(r, &j->policies->v[p], &j->net->m));
	r->inputs = j->surveyed;
	parts = parts < 1 ? 1 : parts > r->n ? r->n : parts;
	add_unit(j, (hu_validate_unit){ .kind = HU_VALIDATE_SURVEY, .policy = p }, 4 * each * (double)batches);
	for (size_t b = 0; b < batches; b++)
		for (size_t k = 0; k < parts; k++) {
			hu_validate_unit u = { HU_VALIDATE_ALONE, p, b, k * r->n / parts, (k + 1) * r->n / parts };
			add_unit(j, u, each * (double)(u.last - u.first));
		}
	return HU_OK;
}

hu_status
hu_validate_cut(hu_validate_job *j)
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
			add_unit(j, u, each * (double)(to - from));
		}
	for (size_t i = 1; i < j->policies->n && j->surveyed; i++)
		if (j->policies->v[i].by_node && !j->policies->v[i].as)
			HU_TRY(cut_nodes(j, i, each));
	j->work.late = hu_ranks_size() > 1 ? 0 : (int)j->exact;
	for (size_t i = 0; i < (size_t)j->work.late; i++)
		add_unit(j, (hu_validate_unit){ .kind = HU_VALIDATE_EXACT, .first = i }, j->exact_s);
	return HU_OK;
}
