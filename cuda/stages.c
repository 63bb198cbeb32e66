/* SPDX-License-Identifier: Apache-2.0
   Launching: a call or a fused pass at a time, or the whole step as a graph that was recorded once
   for each position of the pointers, which a commit exchanges. */
#include "cuda/machine_parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

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
		w[i].pulse = m->pulse;
		w[i].queue = m->queue;
		w[i].arch = m->arch;
		w[i].gemm = m->gemm;
		w[i].scratch = m->scratch;
		w[i].dry = dry;
		w[i].updates = hu_machine_update_counts(m, call);
		w[i].ran = dry ? m->ran[call] : NULL;
		if (to >= 0) {
			copy[i] = m->t[to];
			copy[i].data = m->shadow[to];
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

static hu_status
launch_all(hu_machine *m, const hu_plan *plan, int ahead)
{
	size_t peak;
	long before;

	for (int i = 0; i < plan->nstage; i++)
		if (plan->stage[i].ahead == ahead) {
			HU_TRY(hu_machine_watch_begin(m, &before));
			HU_TRY(hu_machine_launch(m, plan, i, 0, &peak));
			HU_TRY(hu_machine_watch_end(m, i, before));
		}
	return HU_OK;
}

/* The copies that the last updates made become the tensors. */
static void
exchange_ahead(hu_machine *m)
{
	for (int i = 0; i < m->p->nt; i++)
		if (m->shadow[i]) {
			void *data = m->t[i].data;
			m->t[i].data = m->shadow[i];
			m->shadow[i] = data;
		}
	m->turn ^= 2;
}

void
hu_machine_forget_ahead(hu_machine *m)
{
	m->ahead = HU_AHEAD_NONE;
}

void
hu_machine_drop_graphs(hu_machine *m)
{
	for (int i = 0; i < HU_GRAPHS; i++) {
		if (m->graph[i])
			m->side->queues->graph_release(m->graph[i]);
		m->graph[i] = NULL;
	}
}

static hu_status
launch_step(hu_machine *m, const hu_plan *plan)
{
	long before;

	HU_TRY(hu_machine_look_begin(m));
	HU_TRY(launch_all(m, plan, 0));
	HU_TRY(hu_machine_watch_begin(m, &before));
	HU_TRY(hu_machine_look(m));
	return hu_machine_watch_end(m, plan->nstage, before);
}

static hu_status
record(hu_machine *m, const hu_plan *plan, void **graph)
{
	HU_TRY(m->side->queues->graph_begin(m->queue));
	hu_status st = launch_step(m, plan), ended = m->side->queues->graph_end(m->queue, graph);

	return st == HU_OK ? ended : st;
}

/* The first step is launched call by call: libraries and kernels load then, which no recording would allow. */
hu_status
hu_machine_run(hu_machine *m)
{
	const hu_plan *plan = &m->plan[m->fuse];

	HU_TRY(hu_machine_take(m));
	if (m->fuse && m->ahead == HU_AHEAD_MADE)
		exchange_ahead(m);
	else if (m->ahead != HU_AHEAD_HERE)
		HU_TRY(launch_all(m, plan, 1));
	m->ahead = m->fuse ? HU_AHEAD_HERE : HU_AHEAD_NONE;
	if (!m->use_graphs || m->seconds || !m->steps++)
		return launch_step(m, plan);
	if (!m->graph[m->turn])
		HU_TRY(record(m, plan, &m->graph[m->turn]));
	return m->side->queues->graph_launch(m->queue, m->graph[m->turn]);
}
