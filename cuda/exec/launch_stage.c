/* SPDX-License-Identifier: Apache-2.0
   Launches one stage of a plan, a call or a fused pass, on its tensors in device memory. */
#include "cuda/exec/machine_parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>

/* Sets what all calls of the machine have in common. */
static void
equip(const hu_machine *m, hu_work *w, int dry)
{
	w->pulse = m->pulse;
	w->queue = m->queue;
	w->arch = m->arch;
	w->gemm = m->gemm;
	w->scratch = dry ? HU_NOWHERE : m->scratch;
	w->dry = dry;
}

hu_status
hu_machine_launch(hu_machine *m, const hu_plan *plan, int stage, int dry, size_t *peak)
{
	const hu_stage *s = &plan->stage[stage];
	size_t inputs = 1;

	for (int i = 0; i < s->n; i++)
		inputs += (size_t)m->p->c[plan->call[s->first + i]].nin;
	hu_work *w = hu_xmalloc((size_t)s->n * sizeof *w);
	const hu_slot **all = hu_xmalloc(inputs * sizeof *all), **at = all;
	hu_slot *copy = hu_xmalloc((size_t)s->n * sizeof *copy);
	for (int i = 0; i < s->n; i++) {
		int call = plan->call[s->first + i], to = plan->copy[call];
		const hu_call *c = &m->p->c[call];
		hu_plan_work(&w[i], c, m->t, at);
		at += c->nin;
		equip(m, &w[i], dry);
		w[i].updates = hu_machine_update_counts(m, call);
		w[i].ran = dry ? m->ran[call] : NULL;
		if (to >= 0) {
			copy[i] = m->t[to];
			copy[i].data = m->schedule.shadow[to];
			w[i].copy = &copy[i];
			w[i].copy_flags = m->p->c[m->p->t[to].producer].flags;
		}
	}
	hu_status st = s->fusion ? s->fusion->launch(w, s->n) : m->kernel[plan->call[s->first]]->launch(w);
	*peak = w[0].peak;
	free(w);
	free(all);
	free(copy);
	return st;
}

hu_status
hu_machine_launch_call(hu_machine *m, const hu_call *c, int call, int carry, int dry, size_t *peak)
{
	const hu_slot **all = hu_xmalloc(((size_t)c->nin + 1) * sizeof *all);
	hu_work w;

	hu_plan_work(&w, c, m->t, all);
	equip(m, &w, dry);
	w.carry = carry;
	hu_status st = m->kernel[call]->launch(&w);
	*peak = w.peak;
	free(all);
	return st;
}
