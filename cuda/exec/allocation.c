/* SPDX-License-Identifier: Apache-2.0
   The device memory of a program: one allocation for all its tensors, the scratch space and the pulse. */
#include "cuda/exec/machine_parts.h"

/* The most scratch space that any stage of either plan takes. */
static hu_status
scratch_of(hu_machine *m, size_t *most)
{
	size_t peak;

	*most = 0;
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < m->schedule.plan[k].nstage; i++) {
			HU_TRY(hu_machine_launch(m, &m->schedule.plan[k], i, 1, &peak));
			*most = peak > *most ? peak : *most;
		}
	return m->part ? hu_machine_part_scratch(m, most) : HU_OK;
}

/* Returns 1 for a tensor that an update writes for the next step. */
static int
has_shadow(const hu_machine *m, int tensor)
{
	for (int i = 0; i < m->p->nc; i++)
		if (m->schedule.plan[1].copy[i] == tensor)
			return 1;
	return 0;
}

hu_status
hu_machine_allocate(hu_machine *m)
{
	size_t need = hu_machine_padded(sizeof(hu_pulse)), most, stage = sizeof(hu_pulse);

	hu_machine_feed_find(m);
	for (int i = 0; i < m->p->nt; i++) {
		size_t bytes = hu_slot_bytes(&m->t[i]);
		if (!hu_machine_holds(m, i))
			continue;
		need += hu_machine_padded(bytes) * (size_t)(1 + has_shadow(m, i));
		stage = bytes > stage ? bytes : stage;
	}
	for (int i = 0; i < m->nfeed; i++)
		need += hu_machine_padded(hu_slot_bytes(&m->t[m->feed[i].tensor]));
	for (int i = 0; i < m->p->nt; i++)
		m->t[i].data = HU_NOWHERE;
	HU_TRY(scratch_of(m, &most));
	need += most;
	if (m->side->alloc((void **)&m->memory, need) != HU_OK)
		return hu_machine_out_of_memory(m, need);
	m->bytes = need;
	hu_machine_memory_taken(m);
	unsigned char *at = m->memory;
	m->pulse = (hu_pulse *)at;
	at += hu_machine_padded(sizeof(hu_pulse));
	for (int i = 0; i < m->p->nt; i++) {
		m->t[i].data = NULL;
		if (!hu_machine_holds(m, i))
			continue;
		m->t[i].data = at;
		at += hu_machine_padded(hu_slot_bytes(&m->t[i]));
		if (has_shadow(m, i)) {
			m->schedule.shadow[i] = at;
			at += hu_machine_padded(hu_slot_bytes(&m->t[i]));
		}
	}
	for (int i = 0; i < m->nfeed; i++) {
		m->feed[i].waiting = at;
		at += hu_machine_padded(hu_slot_bytes(&m->t[m->feed[i].tensor]));
	}
	m->scratch = at;
	m->stage_bytes = stage;
	HU_TRY(m->side->host_alloc(&m->stage, stage));
	HU_TRY(m->side->host_alloc((void **)&m->beat, sizeof *m->beat));
	HU_TRY(m->side->clear(m->queue, m->memory, need - most)); /* the CPU's tensors also start at zero */
	return m->side->wait(m->queue); /* the first input arrives on a queue of its own */
}

void
hu_machine_release_memory(hu_machine *m)
{
	hu_machine_memory_left(m);
	m->side->release(m->memory);
}
