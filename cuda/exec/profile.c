/* SPDX-License-Identifier: Apache-2.0
   What each pass of a step costs: the number of kernels launched, bytes and, if asked for, the time between two events
   around it by the device's clock. Steps timed so are launched pass by pass, and the times do not show what a recorded
   step saves; the time between two marks does. */
#include "cuda/exec/machine_parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>

static const hu_plan *
plan_of(const hu_machine *m)
{
	return &m->schedule.plan[m->schedule.fuse];
}

void
hu_machine_profile(hu_machine *m, double *seconds)
{
	m->profile.seconds = seconds;
}

/* Makes as many timers as a step needs that has the casts made ahead. */
static hu_status
make_timers(hu_machine *m)
{
	int need = 2 * (plan_of(m)->nstage + 1);

	if (need <= m->profile.timers)
		return HU_OK;
	m->profile.timer = hu_xrealloc(m->profile.timer, (size_t)need * sizeof *m->profile.timer);
	m->profile.timed_stage = hu_xrealloc(m->profile.timed_stage, (size_t)need * sizeof *m->profile.timed_stage);
	for (; m->profile.timers < need; m->profile.timers++)
		HU_TRY(m->side->queues->timer_open(&m->profile.timer[m->profile.timers]));
	return HU_OK;
}

hu_status
hu_machine_watch_begin(hu_machine *m, long *before)
{
	*before = m->side->queues->launches();
	if (!m->profile.seconds)
		return HU_OK;
	HU_TRY(make_timers(m));
	return m->side->queues->event_record(m->queue, m->profile.timer[2 * m->profile.timed]);
}

hu_status
hu_machine_watch_end(hu_machine *m, int stage, long before)
{
	const hu_plan *plan = plan_of(m);
	long **own = &m->profile.launched[m->schedule.fuse];

	if (!*own)
		*own = hu_xcalloc((size_t)plan->nstage + 1, sizeof **own);
	(*own)[stage] = m->side->queues->launches() - before;
	if (!m->profile.seconds)
		return HU_OK;
	m->profile.timed_stage[m->profile.timed] = stage;
	return m->side->queues->event_record(m->queue, m->profile.timer[2 * m->profile.timed++ + 1]);
}

/* The call under which a pass's numbers are listed. */
static int
first_of(const hu_machine *m, int stage)
{
	const hu_plan *plan = plan_of(m);
	const hu_stage *s = &plan->stage[stage];
	int first = m->p->nc;

	if (stage == plan->nstage)
		return first;
	for (int k = 0; k < s->n; k++)
		if (plan->call[s->first + k] < first)
			first = plan->call[s->first + k];
	for (int i = 0; i < m->p->nc; i++) /* the casts that it makes for the next step */
		for (int k = 0; k < s->n; k++)
			if (plan->copy[plan->call[s->first + k]] >= 0 &&
				m->p->t[plan->copy[plan->call[s->first + k]]].producer == i && i < first)
				first = i;
	return first;
}

hu_status
hu_machine_profile_read(hu_machine *m)
{
	const hu_queue_calls *q = m->side->queues;
	int n = m->profile.timed;

	m->profile.timed = 0;
	if (!m->profile.seconds || !n)
		return HU_OK;
	HU_TRY(q->event_wait(m->profile.timer[2 * n - 1]));
	for (int i = 0; i < n; i++) {
		double seconds;
		HU_TRY(q->timer_between(m->profile.timer[2 * i], m->profile.timer[2 * i + 1], &seconds));
		m->profile.seconds[first_of(m, m->profile.timed_stage[i])] += seconds;
	}
	return HU_OK;
}

hu_status
hu_machine_mark(hu_machine *m, int end)
{
	void **at = &m->profile.mark[end];

	if (!*at)
		HU_TRY(m->side->queues->timer_open(at));
	return m->side->queues->event_record(m->queue, *at);
}

hu_status
hu_machine_elapsed(hu_machine *m, double *seconds)
{
	HU_TRY(m->side->queues->event_wait(m->profile.mark[1]));
	return m->side->queues->timer_between(m->profile.mark[0], m->profile.mark[1], seconds);
}

void
hu_machine_profile_close(hu_machine *m)
{
	for (int k = 0; k < 2; k++)
		if (m->profile.mark[k])
			m->side->queues->event_close(m->profile.mark[k]);
	for (int i = 0; i < m->profile.timers; i++)
		m->side->queues->event_close(m->profile.timer[i]);
	for (int k = 0; k < 2; k++)
		free(m->profile.launched[k]);
	free(m->profile.timer);
	free(m->profile.timed_stage);
}

/* The bytes that the digest, counts and packing read and write. */
static double
look_bytes(const hu_machine *m)
{
	const hu_look *k = &m->look;
	double sum = 0;

	for (int i = 0; i < m->p->nt && k->block[0]; i++)
		sum += m->p->t[i].state ? (double)(m->t[i].n * hu_slot_size(m->t[i].format)) : 0;
	for (int i = 0; i < k->ncounted; i++)
		sum += (double)(m->t[k->counted[i]].n * hu_slot_size(m->t[k->counted[i]].format));
	for (int i = 0; i < k->nsurveyed; i++) {
		const hu_slot *t = &m->t[k->surveyed[i]];
		int from, scale;
		sum += (double)(t->n * hu_slot_size(t->format));
		if (hu_is_cast(m->p, k->surveyed[i], &from, &scale))
			sum += (double)(m->t[from].n * hu_slot_size(m->t[from].format));
	}
	return sum + (k->block[0] ? 2.0 * (double)k->tally_at : 0);
}

hu_pass
hu_machine_pass(hu_machine *m, int call)
{
	const hu_plan *plan = plan_of(m);
	const long *launched = m->profile.launched[m->schedule.fuse];
	int stage = call == m->p->nc ? plan->nstage : hu_plan_stage_of(plan, m->p, call);
	hu_pass pass = { first_of(m, stage), 0, NULL, launched ? launched[stage] : 0, 0 };

	if (stage == plan->nstage) {
		pass.bytes = look_bytes(m);
		return pass;
	}
	pass.chain = plan->stage[stage].fusion && plan->stage[stage].fusion->kind == HU_FUSE_CHAIN;
	pass.name = plan->stage[stage].fusion ? plan->stage[stage].fusion->name : NULL;
	pass.bytes = hu_plan_bytes(plan, m->p, m->t, stage);
	return pass;
}
