/* SPDX-License-Identifier: Apache-2.0
   A rank's part of a program on a device, where NCCL adds what ranks have (lib/program/spread/part.h). */
#include "cuda/exec/machine_parts.h"

#include "cuda/nccl/nccl.h"
#include "lib/base/terminal/progress.h"

#include <sched.h>

hu_status
hu_machine_part_join(hu_machine *m)
{
	const hu_spread *s = m->part->s;

	for (int i = 0; i < s->n; i++) {
		const hu_call *c = &m->p->c[s->todo[i].id];
		if (s->todo[i].action == HU_DO_REDUCE && !hu_nccl_adds(m->t[c->out[0]].format))
			return hu_fail(HU_EUNABLE,
				"--all-reduce nccl: %s is %s, and NCCL adds no such numbers: say ring:N",
				m->p->t[c->out[0]].name, hu_format_name(m->t[c->out[0]].format));
	}
	return hu_nccl_join(m->side->host);
}

/* The shim's queue may be behind, and a library of the host's memory does not wait for it. */
hu_status
hu_machine_part_reduce(hu_machine *m, int call)
{
	const hu_call *c = &m->p->c[call];
	const hu_slot *in = &m->t[c->in[hu_spread_operand(m->part->s, m->part->s->rank)]], *out = &m->t[c->out[0]];

	if (m->side->host)
		HU_TRY(m->side->wait(m->queue));
	HU_TRY(hu_nccl_all_reduce(m->queue, in->data, out->data, out->n, out->format));
	if (!m->part->added)
		HU_TRY(m->side->queues->event_open(&m->part->added));
	m->part->adding = 1;
	return m->side->queues->event_record(m->queue, m->part->added);
}

hu_status
hu_machine_part_added(hu_machine *m)
{
	double start = hu_now();

	while (m->part->adding) {
		int done, busy;
		HU_TRY(m->side->queues->event_done(m->part->added, &done));
		HU_TRY(hu_nccl_look(hu_now() - start, &busy));
		m->part->adding = !done || busy;
		if (m->part->adding)
			sched_yield(); /* no nap: the device would stand still until it ends */
	}
	return HU_OK;
}

const char *
hu_machine_part_library(int what)
{
	const hu_nccl_words *w = hu_nccl_used();

	return !w ? "" : what == 0 ? w->library : what == 1 ? w->algorithm : w->protocol;
}
