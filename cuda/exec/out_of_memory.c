/* SPDX-License-Identifier: Apache-2.0
   The message for a program that does not fit into the device's memory: how much it needs, how much is free, and the
   largest batch that would fit. */
#include "cuda/exec/machine_parts.h"

#include <string.h>

/* The programs that have memory. A run has two with the same batch, for training and evaluation, which must fit
   together. */
enum { OPEN = 16 };
static const hu_machine *open_ones[OPEN];

/* The batch: the first dimension of the first input. */
static size_t
batch_of(const hu_machine *m)
{
	for (int i = 0; i < m->p->nt; i++)
		if (m->p->t[i].producer < 0 && !m->p->t[i].state && m->p->t[i].shape.rank)
			return m->p->t[i].shape.d[0];
	return 0;
}

/* Returns 1 if tensor i is the value that a state tensor takes when the step ends. */
static int
is_next(const hu_program *p, int i)
{
	for (int k = 0; k < p->nt; k++)
		if (p->t[k].next == i)
			return 1;
	return 0;
}

/* The bytes of tensor i with a batch of b instead of batch. Weights, their gradients and moments do not change. */
static size_t
bytes_at(const hu_machine *m, int i, size_t batch, size_t b)
{
	const hu_info *t = &m->p->t[i];
	int kept = t->state || t->cls == HU_WEIGHT || t->cls == HU_WGRAD || is_next(m->p, i);
	int moves = !kept && m->t[i].shape.rank > 0 && m->t[i].shape.d[0] == batch;

	if (!hu_machine_holds(m, i))
		return 0;
	return hu_machine_padded(moves ? hu_slot_bytes(&m->t[i]) / batch * b : hu_slot_bytes(&m->t[i]));
}

/* The bytes that the program saves with a batch of b, if the scratch space stays the same. */
static double
saved_at(const hu_machine *m, size_t batch, size_t b)
{
	double less = 0;

	for (int i = 0; i < m->p->nt; i++)
		less += (double)bytes_at(m, i, batch, batch) - (double)bytes_at(m, i, batch, b);
	for (int i = 0; i < m->nfeed; i++)
		less += (double)bytes_at(m, m->feed[i].tensor, batch, batch) -
			(double)bytes_at(m, m->feed[i].tensor, batch, b);
	return less;
}

/* The largest batch that fits into left free bytes plus the memory that is already held, if the program needs need
   bytes; 0 if none fits. */
static size_t
batch_that_fits(const hu_machine *m, double need, double left, size_t *batch)
{
	const hu_machine *all[OPEN + 1] = { m };
	int n = 1;

	*batch = batch_of(m);
	for (int i = 0; i < OPEN; i++)
		if (open_ones[i] && open_ones[i] != m && open_ones[i]->side == m->side &&
			batch_of(open_ones[i]) == *batch)
			all[n++] = open_ones[i];
	for (size_t b = *batch; b-- > 1;) {
		double saved = 0;
		for (int i = 0; i < n; i++)
			saved += saved_at(all[i], *batch, b);
		if (need - saved <= 0.99 * left - 8192) /* a step's counters are allocated later */
			return b;
	}
	return 0;
}

hu_status
hu_machine_out_of_memory(const hu_machine *m, size_t need)
{
	size_t left = 0, total = 0, batch;
	hu_status st = m->side->memory(&left, &total);
	size_t fits = batch_that_fits(m, (double)need, (double)left, &batch);

	if (st != HU_OK)
		return st;
	if (fits && fits < batch)
		return hu_fail(HU_ENOMEM,
			"program %s needs %.1f MB on the device, but %.1f of its %.1f MB are free: a batch of %zu "
			"would fit",
			m->p->name, (double)need / 1e6, (double)left / 1e6, (double)total / 1e6, fits);
	return hu_fail(HU_ENOMEM,
		"program %s needs %.1f MB on the device, %.1f of its %.1f MB are free: use a smaller batch or width",
		m->p->name, (double)need / 1e6, (double)left / 1e6, (double)total / 1e6);
}

void
hu_machine_memory_taken(const hu_machine *m)
{
	for (int i = 0; i < OPEN; i++)
		if (!open_ones[i]) {
			open_ones[i] = m;
			return;
		}
}

void
hu_machine_memory_left(const hu_machine *m)
{
	for (int i = 0; i < OPEN; i++)
		if (open_ones[i] == m)
			open_ones[i] = NULL;
}
