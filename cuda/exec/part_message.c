/* SPDX-License-Identifier: Apache-2.0
   Messages of a rank's part on a device: tensors on their way through the host's memory, as they lie on the device. */
#include "cuda/exec/machine_parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static hu_status
open_message(hu_machine *m, hu_message *q, int tensor)
{
	if (q->host)
		return HU_OK;
	HU_TRY(m->side->host_alloc(&q->host, hu_slot_bytes(&m->t[tensor])));
	return m->side->queues->event_open(&q->landed);
}

hu_status
hu_machine_part_open(hu_machine *m)
{
	hu_part *a = m->part;

	for (int i = 0; i < a->s->n; i++) {
		const hu_spread_do *d = &a->s->todo[i];
		if (d->action == HU_DO_RECEIVE || d->action == HU_DO_POST || d->action == HU_DO_BROADCAST)
			HU_TRY(open_message(m, &a->message[d->id], d->id));
		if (d->action != HU_DO_CHECK)
			continue;
		const hu_call *c = &m->p->c[d->id];
		size_t bytes = (size_t)(c->nin - a->check.nin) * sizeof *a->tally;
		HU_TRY(open_message(m, &a->found, c->out[0]));
		if (m->side->alloc((void **)&a->tally, bytes) != HU_OK)
			return hu_machine_out_of_memory(m, bytes);
	}
	return HU_OK;
}

static void
close_message(hu_machine *m, hu_message *q)
{
	if (q->host)
		m->side->host_release(q->host);
	if (q->landed)
		m->side->queues->event_close(q->landed);
}

void
hu_machine_part_close(hu_machine *m)
{
	hu_part *a = m->part;

	if (!a)
		return;
	for (int i = 0; i < m->p->nt; i++)
		close_message(m, &a->message[i]);
	close_message(m, &a->found);
	if (a->added)
		m->side->queues->event_close(a->added);
	m->side->release(a->tally);
	free(a->message);
	free(a->stretch);
	free(a->from[0]);
	free(a->from[1]);
	free(a);
	m->part = NULL;
}

size_t
hu_machine_part_bytes(const hu_machine *m, int tensor)
{
	return hu_slot_bytes(&m->t[tensor]);
}

hu_status
hu_machine_part_out(hu_machine *m, int tensor, void **message)
{
	const hu_message *q = &m->part->message[tensor];

	*message = q->host;
	HU_TRY(m->side->download(m->queue, q->host, m->t[tensor].data, hu_slot_bytes(&m->t[tensor])));
	return m->side->queues->event_record(m->queue, q->landed);
}

hu_status
hu_machine_part_landed(hu_machine *m, int tensor)
{
	HU_TRY(hu_machine_part_added(m));
	return m->side->queues->event_wait(m->part->message[tensor].landed);
}

hu_status
hu_machine_part_room(hu_machine *m, int tensor, void **message)
{
	*message = m->part->message[tensor].host;
	return HU_OK;
}

hu_status
hu_machine_part_in(hu_machine *m, int tensor)
{
	return m->side->upload(
		m->queue, m->t[tensor].data, m->part->message[tensor].host, hu_slot_bytes(&m->t[tensor]));
}
