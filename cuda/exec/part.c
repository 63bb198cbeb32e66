/* SPDX-License-Identifier: Apache-2.0
   A rank's part of a program on a device (lib/program/spread/part.h): the calls between two messages are launched as
   stages of a plan, and nothing waits for them but what a message needs. */
#include "cuda/exec/machine_parts.h"

#include "cuda/exec/transfer.h"
#include "lib/base/mem.h"

#include <stdlib.h>

/* Numbers the stretches: calls whose actions follow each other. */
static void
number_stretches(hu_part *a)
{
	const hu_spread *s = a->s;

	for (int i = 0; i < s->p->nc; i++)
		a->stretch[i] = -1;
	for (int i = 0; i < s->n; i++) {
		if (s->todo[i].action != HU_DO_RUN)
			continue;
		if (!i || s->todo[i - 1].action != HU_DO_RUN)
			a->stretches++;
		a->stretch[s->todo[i].id] = a->stretches - 1;
	}
}

void
hu_machine_part_init(hu_machine *m, const hu_spread *s)
{
	hu_part *a = m->part = hu_xcalloc(1, sizeof *a);

	a->s = s;
	a->stretch = hu_xmalloc(((size_t)s->p->nc + 1) * sizeof *a->stretch);
	a->message = hu_xcalloc((size_t)s->p->nt + 1, sizeof *a->message);
	number_stretches(a);
	for (int i = 0; i < s->n; i++)
		if (s->todo[i].action == HU_DO_CHECK) {
			a->check = s->p->c[s->todo[i].id];
			a->check.nin = hu_spread_judged(&a->check);
		}
}

void
hu_machine_part_plan(hu_machine *m)
{
	hu_part *a = m->part;

	for (int k = 0; k < 2; k++) {
		const hu_plan *plan = &m->schedule.plan[k];
		int *from = a->from[k] = hu_xmalloc(((size_t)a->stretches + 1) * sizeof *from);
		for (int at = 0, i = 0; i <= a->stretches; i++) {
			while (at < plan->nstage && a->stretch[plan->call[plan->stage[at].first]] < i)
				at++;
			from[i] = at;
		}
	}
}

hu_status
hu_machine_part_scratch(hu_machine *m, size_t *most)
{
	const hu_spread *s = m->part->s;

	for (int i = 0; i < s->n; i++) {
		const hu_spread_do *d = &s->todo[i];
		const hu_call *c = d->action == HU_DO_CARRY   ? &m->p->c[d->id]
				   : d->action == HU_DO_CHECK ? &m->part->check
							    : NULL;
		size_t peak = 0;
		if (c)
			HU_TRY(hu_machine_launch_call(m, c, d->id, d->action == HU_DO_CARRY, 1, &peak));
		*most = peak > *most ? peak : *most;
	}
	return HU_OK;
}

double
hu_machine_part_memory(const hu_machine *m)
{
	return (double)m->bytes;
}

/* Messages of the step before may still be on their way to the device, and their buffers are about to be used. */
hu_status
hu_machine_part_begin(hu_machine *m, const hu_env *env)
{
	HU_TRY(m->side->wait(m->queue));
	HU_TRY(hu_machine_begin(m, env));
	HU_TRY(hu_machine_prepare(m));
	return hu_machine_look_begin(m);
}

hu_status
hu_machine_part_end(hu_machine *m)
{
	HU_TRY(hu_machine_look(m));
	m->schedule.stepped = 1;
	return hu_machine_look_send(m);
}

/* A plan's own order of the calls of a stretch holds, in which fewer stages may do. */
hu_status
hu_machine_part_run(hu_machine *m, int first, int n)
{
	const hu_part *a = m->part;
	const hu_plan *plan = &m->schedule.plan[m->schedule.fuse];
	int stretch = a->stretch[a->s->todo[first].id];
	size_t peak;

	HU_ASSERT(a->stretch[a->s->todo[first + n - 1].id] == stretch);
	for (int i = a->from[m->schedule.fuse][stretch]; i < a->from[m->schedule.fuse][stretch + 1]; i++)
		if (!plan->stage[i].ahead)
			HU_TRY(hu_machine_launch(m, plan, i, 0, &peak));
	return HU_OK;
}

/* A kernel that knows nothing of this computes all results again, which are the same bits but for those that pass
   on. */
hu_status
hu_machine_part_carry(hu_machine *m, int call)
{
	size_t peak;

	return hu_machine_launch_call(m, &m->p->c[call], call, 1, 0, &peak);
}

hu_status
hu_machine_part_judge(hu_machine *m, int call)
{
	hu_part *a = m->part;
	const hu_slot *found = &m->t[a->check.out[0]];
	size_t peak;

	HU_TRY(hu_machine_launch_call(m, &a->check, call, 0, 0, &peak));
	HU_TRY(m->side->download(m->queue, a->found.host, found->data, hu_slot_bytes(found)));
	return m->side->queues->event_record(m->queue, a->found.landed);
}

hu_status
hu_machine_part_found(hu_machine *m, int call, int *yes)
{
	const hu_slot *t = &m->t[m->p->c[call].out[0]];
	double room;
	hu_tensor found = { .data = &room, .format = t->format, .shape = t->shape, .n = 1 };

	HU_TRY(hu_machine_part_added(m));
	HU_TRY(m->side->queues->event_wait(m->part->found.landed));
	hu_transfer_unpack(&room, m->part->found.host, 1, t->format);
	*yes = hu_get(&found, 0) != 0;
	return HU_OK;
}

hu_status
hu_machine_part_count(hu_machine *m, const int *tensor, int n, double *nonfinite)
{
	const hu_slot **t = hu_xmalloc(((size_t)n + 1) * sizeof *t);
	size_t bytes = (size_t)n * sizeof(hu_tally);
	hu_tally *tally = hu_xmalloc(bytes + 1);

	for (int i = 0; i < n; i++)
		t[i] = &m->t[tensor[i]];
	hu_status st = m->side->clear(m->queue, m->part->tally, bytes);
	if (st == HU_OK)
		st = m->side->look->tally(m->queue, t, n, m->part->tally);
	if (st == HU_OK)
		st = m->side->download(m->queue, tally, m->part->tally, bytes);
	if (st == HU_OK)
		st = m->side->wait(m->queue);
	for (int i = 0; i < n && st == HU_OK; i++)
		nonfinite[i] = (double)tally[i].nonfinite;
	free(tally);
	free(t);
	return st;
}
