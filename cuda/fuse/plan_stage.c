/* SPDX-License-Identifier: Apache-2.0
   Which pass of a plan computes a call, and what a pass moves. */
#include "cuda/fuse/plan.h"

#include "lib/base/mem.h"

#include <stdlib.h>

static int
stage_with(const hu_plan *plan, int call)
{
	for (int i = 0; i < plan->nstage; i++)
		for (int k = 0; k < plan->stage[i].n; k++)
			if (plan->call[plan->stage[i].first + k] == call)
				return i;
	return -1;
}

int
hu_plan_stage_of(const hu_plan *plan, const hu_program *p, int call)
{
	int stage = stage_with(plan, call);

	for (int i = 0; i < p->nc && plan->stage[stage].ahead; i++)
		if (plan->copy[i] == p->c[call].out[0])
			return stage_with(plan, i);
	return stage;
}

double
hu_plan_bytes(const hu_plan *plan, const hu_program *p, const hu_slot *t, int stage)
{
	const hu_stage *s = &plan->stage[stage];
	char *seen = hu_xcalloc((size_t)p->nt + 1, 1);
	double sum = 0;

	for (int k = 0; k < s->n; k++) {
		const hu_call *c = &p->c[plan->call[s->first + k]];
		int reads =
			(int)hu_call_cost(p, c)
				.reads; /* a check reads the step's other tensors only if a gradient is not finite */
		for (int j = 0; j < reads; j++) {
			sum += seen[c->in[j]] ? 0 : (double)(t[c->in[j]].n * hu_slot_size(t[c->in[j]].format));
			seen[c->in[j]] = 1;
		}
		for (int j = 0; j < c->nout; j++) {
			sum += (double)(t[c->out[j]].n * hu_slot_size(t[c->out[j]].format));
			seen[c->out[j]] = 1;
		}
		if (plan->copy[c->id] >= 0)
			sum += (double)(t[plan->copy[c->id]].n * hu_slot_size(t[plan->copy[c->id]].format));
	}
	free(seen);
	return sum;
}
