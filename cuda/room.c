/* SPDX-License-Identifier: Apache-2.0
   The device memory of a program: one allocation, and what is said where it does not fit. */
#include "cuda/machine_parts.h"

#include <string.h>

static size_t
padded(size_t n)
{
	return (n + 255) / 256 * 256;
}

static size_t
bytes_of(const hu_slot *t)
{
	return t->n * hu_slot_size(t->format);
}

/* Programs that have their memory. A run has two of one batch, for training and evaluation: what does not fit is both together. */
enum { OPEN = 16 };
static const hu_machine *open_ones[OPEN];

static size_t
batch_of(const hu_machine *m)
{
	int x = hu_program_find(m->p, "input.x");

	return x >= 0 && m->p->t[x].shape.rank ? m->p->t[x].shape.d[0] : 0;
}

/* N bytes of tensor I, where the batch is B instead of BATCH. Weights, their gradients and moments stay what they are. */
static size_t
bytes_at(const hu_machine *m, int i, size_t batch, size_t b)
{
	const hu_info *t = &m->p->t[i];
	int kept = t->state || t->cls == HU_WEIGHT || t->cls == HU_WGRAD || strstr(t->role, "_next") != NULL;
	int moves = !kept && m->t[i].shape.rank > 0 && m->t[i].shape.d[0] == batch;

	return padded(moves ? bytes_of(&m->t[i]) / batch * b : bytes_of(&m->t[i]));
}

/* How much less of TAKEN bytes the program takes with B, scratch room left as it is. */
static double
saved_at(const hu_machine *m, size_t batch, size_t b)
{
	double less = 0;

	for (int i = 0; i < m->p->nt; i++)
		less += (double)bytes_at(m, i, batch, batch) - (double)bytes_at(m, i, batch, b);
	for (int i = 0; i < m->nfeed; i++)
		less += (double)bytes_at(m, m->feed[i].tensor, batch, batch) - (double)bytes_at(m, m->feed[i].tensor, batch, b);
	return less;
}

/* The largest batch that fits into LEFT bytes, and what is held already, where the program takes NEED; 0: none. */
static size_t
batch_that_fits(const hu_machine *m, double need, double left, size_t *batch)
{
	const hu_machine *all[OPEN + 1] = { m };
	int n = 1;

	*batch = batch_of(m);
	for (int i = 0; i < OPEN; i++)
		if (open_ones[i] && open_ones[i] != m && open_ones[i]->side == m->side && batch_of(open_ones[i]) == *batch)
			all[n++] = open_ones[i];
	for (size_t b = *batch; b-- > 1;) {
		double saved = 0;
		for (int i = 0; i < n; i++)
			saved += saved_at(all[i], *batch, b);
		if (need - saved <= 0.99 * left - 8192) /* the counters of a step are allocated later */
			return b;
	}
	return 0;
}

hu_status
hu_machine_no_room(const hu_machine *m, size_t need)
{
	size_t left = 0, total = 0, batch;
	hu_status st = m->side->memory(&left, &total);
	size_t fits = batch_that_fits(m, (double)need, (double)left, &batch);

	if (st != HU_OK)
		return st;
	if (fits && fits < batch)
		return hu_fail(HU_ENOMEM, "program %s needs %.1f MB on the device, %.1f of its %.1f MB are free: a batch of %zu would fit", m->p->name, (double)need / 1e6, (double)left / 1e6, (double)total / 1e6, fits);
	return hu_fail(HU_ENOMEM, "program %s needs %.1f MB on the device, %.1f of its %.1f MB are free: use a smaller batch or width", m->p->name, (double)need / 1e6, (double)left / 1e6, (double)total / 1e6);
}

/* The most scratch room that any stage of either plan takes. */
static hu_status
scratch_of(hu_machine *m, size_t *most)
{
	size_t peak;

	*most = 0;
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < m->plan[k].nstage; i++) {
			HU_TRY(hu_machine_launch(m, &m->plan[k], i, 1, &peak));
			*most = peak > *most ? peak : *most;
		}
	return HU_OK;
}

/* The tensors that an update writes for the next step. */
static int
has_shadow(const hu_machine *m, int tensor)
{
	for (int i = 0; i < m->p->nc; i++)
		if (m->plan[1].copy[i] == tensor)
			return 1;
	return 0;
}

hu_status
hu_machine_room(hu_machine *m)
{
	size_t need = padded(sizeof(hu_pulse)), most, stage = sizeof(hu_pulse);

	hu_machine_feed_find(m);
	for (int i = 0; i < m->p->nt; i++) {
		size_t bytes = bytes_of(&m->t[i]);
		need += padded(bytes) * (size_t)(1 + has_shadow(m, i));
		stage = bytes > stage ? bytes : stage;
	}
	for (int i = 0; i < m->nfeed; i++)
		need += padded(bytes_of(&m->t[m->feed[i].tensor]));
	HU_TRY(scratch_of(m, &most));
	need += most;
	if (m->side->alloc((void **)&m->memory, need) != HU_OK)
		return hu_machine_no_room(m, need);
	m->bytes = need;
	for (int i = 0, kept = 0; i < OPEN && !kept; i++)
		if (!open_ones[i]) {
			open_ones[i] = m;
			kept = 1;
		}
	unsigned char *at = m->memory;
	m->pulse = (hu_pulse *)at;
	at += padded(sizeof(hu_pulse));
	for (int i = 0; i < m->p->nt; i++) {
		m->t[i].data = at;
		at += padded(bytes_of(&m->t[i]));
		if (has_shadow(m, i)) {
			m->shadow[i] = at;
			at += padded(bytes_of(&m->t[i]));
		}
	}
	for (int i = 0; i < m->nfeed; i++) {
		m->feed[i].room = at;
		at += padded(bytes_of(&m->t[m->feed[i].tensor]));
	}
	m->scratch = at;
	m->stage_bytes = stage;
	HU_TRY(m->side->host_alloc(&m->stage, stage));
	HU_TRY(m->side->host_alloc((void **)&m->beat, sizeof *m->beat));
	HU_TRY(m->side->clear(m->queue, m->memory, need - most)); /* as the CPU's tensors start */
	return m->side->wait(m->queue); /* before the first input arrives on its own queue */
}

void
hu_machine_leave(hu_machine *m)
{
	for (int i = 0; i < OPEN; i++)
		if (open_ones[i] == m)
			open_ones[i] = NULL;
	m->side->release(m->memory);
}
