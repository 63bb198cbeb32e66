/* SPDX-License-Identifier: Apache-2.0
   Traces: many tensors are transferred to the host, and during each transfer the tensor before it is unpacked. */
#include "cuda/exec/machine_parts.h"

#include "cuda/exec/transfer.h"

hu_status
hu_device_gather(hu_machine *m, const int *tensor, int n, void *const *values)
{
	const hu_queue_calls *q = m->side->queues;

	for (int i = 0; i < 2; i++) {
		if (!m->gather.landing[i])
			HU_TRY(m->side->host_alloc(&m->gather.landing[i], m->stage_bytes));
		if (!m->gather.landed[i])
			HU_TRY(q->event_open(&m->gather.landed[i]));
	}
	for (int i = 0; i <= n; i++) {
		if (i < n) {
			const hu_slot *t = &m->t[tensor[i]];
			HU_TRY(m->side->download(m->queue, m->gather.landing[i % 2], t->data, hu_slot_bytes(t)));
			HU_TRY(q->event_record(m->queue, m->gather.landed[i % 2]));
		}
		if (i > 0) {
			const hu_slot *t = &m->t[tensor[i - 1]];
			HU_TRY(q->event_wait(m->gather.landed[(i - 1) % 2]));
			hu_transfer_unpack(values[i - 1], m->gather.landing[(i - 1) % 2], t->n, t->format);
		}
	}
	return HU_OK;
}

void
hu_machine_gather_close(hu_machine *m)
{
	for (int i = 0; i < 2; i++) {
		if (m->gather.landing[i])
			m->side->host_release(m->gather.landing[i]);
		if (m->gather.landed[i])
			m->side->queues->event_close(m->gather.landed[i]);
	}
}
