/* SPDX-License-Identifier: Apache-2.0
   Inputs: a batch is made or packed in pinned host memory and sent on a queue of its own, while the step before still
   runs, to a waiting buffer beside its tensor. The step that uses it copies it to the tensor. */
#include "cuda/exec/machine_parts.h"

#include "cuda/exec/transfer.h"

static int
is_input(const hu_program *p, int tensor)
{
	return p->t[tensor].producer < 0 && !p->t[tensor].state;
}

void
hu_machine_feed_find(hu_machine *m)
{
	for (int i = 0; i < m->p->nt; i++)
		if (is_input(m->p, i) && hu_machine_holds(m, i) && m->nfeed < HU_FEEDS)
			m->feed[m->nfeed++].tensor = i;
}

hu_status
hu_machine_feed_open(hu_machine *m)
{
	for (int i = 0; i < m->nfeed; i++) {
		hu_feed *f = &m->feed[i];
		const hu_slot *t = &m->t[f->tensor];
		HU_TRY(m->side->host_alloc(&f->host, t->n * hu_slot_size(t->format)));
		HU_TRY(m->side->queues->event_open(&f->arrived));
		HU_TRY(m->side->queues->event_open(&f->taken));
	}
	return HU_OK;
}

void
hu_machine_feed_close(hu_machine *m)
{
	for (int i = 0; i < m->nfeed; i++) {
		hu_feed *f = &m->feed[i];
		if (f->host)
			m->side->host_release(f->host);
		if (f->arrived)
			m->side->queues->event_close(f->arrived);
		if (f->taken)
			m->side->queues->event_close(f->taken);
	}
	m->nfeed = 0;
}

hu_status
hu_machine_room(hu_machine *m, int tensor, void **values)
{
	*values = NULL;
	for (int i = 0; i < m->nfeed; i++)
		if (m->feed[i].tensor == tensor && hu_slot_size(m->t[tensor].format) == sizeof(float)) {
			*values = m->feed[i].host;
			return m->side->queues->event_wait(m->feed[i].arrived);
		}
	return HU_OK;
}

int
hu_machine_feed(hu_machine *m, int tensor, const void *values, hu_status *st)
{
	const hu_queue_calls *q = m->side->queues;
	const hu_slot *t = &m->t[tensor];

	for (int i = 0; i < m->nfeed; i++) {
		hu_feed *f = &m->feed[i];
		if (f->tensor != tensor)
			continue;
		*st = q->event_wait(f->arrived); /* the previous batch has left the host */
		if (*st == HU_OK) {
			if (values != f->host) /* else they were made here (hu_machine_room) */
				hu_transfer_pack(f->host, values, t->n, t->format);
			*st = q->event_await(m->feed_queue, f->taken); /* and the waiting buffer is free */
		}
		if (*st == HU_OK)
			*st = m->side->upload(m->feed_queue, f->waiting, f->host, t->n * hu_slot_size(t->format));
		if (*st == HU_OK)
			*st = q->event_record(m->feed_queue, f->arrived);
		f->fresh = 1;
		return 1;
	}
	return 0;
}

hu_status
hu_machine_take(hu_machine *m)
{
	const hu_queue_calls *q = m->side->queues;

	for (int i = 0; i < m->nfeed; i++) {
		hu_feed *f = &m->feed[i];
		const hu_slot *t = &m->t[f->tensor];
		if (!f->fresh)
			continue;
		HU_TRY(q->event_await(m->queue, f->arrived));
		HU_TRY(m->side->copy(m->queue, t->data, f->waiting, t->n * hu_slot_size(t->format)));
		HU_TRY(q->event_record(m->queue, f->taken));
		f->fresh = 0;
	}
	return HU_OK;
}
