/* SPDX-License-Identifier: Apache-2.0
   Runs a whole step: its stages one after another, or all of them as a graph, recorded once for each position of the
   pointers that a commit exchanges. */
#include "cuda/exec/machine_parts.h"

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

/* The copies that the last updates wrote become the tensors. */
static void
exchange_ahead(hu_machine *m)
{
	for (int i = 0; i < m->p->nt; i++)
		if (m->schedule.shadow[i]) {
			void *data = m->t[i].data;
			m->t[i].data = m->schedule.shadow[i];
			m->schedule.shadow[i] = data;
		}
	m->schedule.turn ^= 2;
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

hu_status
hu_machine_begin(hu_machine *m, const hu_env *env)
{
	HU_TRY(m->side->queues->event_wait(m->beaten)); /* the previous pulse has left the host */
	*m->beat = (hu_pulse){ env->seed, env->step, 0, 0 };
	HU_TRY(m->side->upload(m->queue, m->pulse, m->beat, offsetof(hu_pulse, fault)));
	return m->side->queues->event_record(m->queue, m->beaten);
}

hu_status
hu_machine_prepare(hu_machine *m)
{
	const hu_plan *plan = &m->schedule.plan[m->schedule.fuse];

	HU_TRY(hu_machine_take(m));
	if (m->schedule.fuse && m->schedule.ahead == HU_AHEAD_MADE)
		exchange_ahead(m);
	else if (m->schedule.ahead != HU_AHEAD_HERE)
		HU_TRY(launch_all(m, plan, 1));
	m->schedule.ahead = m->schedule.fuse ? HU_AHEAD_HERE : HU_AHEAD_NONE;
	return HU_OK;
}

/* The first step is launched call by call, because libraries and kernels are then loaded, which no recording would
   allow. */
hu_status
hu_machine_run(hu_machine *m)
{
	const hu_plan *plan = &m->schedule.plan[m->schedule.fuse];

	HU_TRY(hu_machine_prepare(m));
	if (!m->schedule.use_graphs || m->profile.seconds || !m->schedule.steps++)
		return launch_step(m, plan);
	if (!m->schedule.graph[m->schedule.turn])
		HU_TRY(record(m, plan, &m->schedule.graph[m->schedule.turn]));
	return m->side->queues->graph_launch(m->queue, m->schedule.graph[m->schedule.turn]);
}
