/* SPDX-License-Identifier: Apache-2.0
   What the host reads after each step, collected on the device into one block for a single transfer: chosen tensors,
   counts of others, the pulse with the new state's digest. */
#include "cuda/exec/machine_parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_machine_fault(uint32_t fault)
{
	switch (fault) {
	case HU_FAULT_LABEL: return hu_fail(HU_EINVAL, "softmax_xent: a label is not one of the classes");
	case HU_FAULT_BINARY: return hu_fail(HU_EINVAL, "sigmoid_xent: a label is neither 0 nor 1");
	case HU_FAULT_INDEX: return hu_fail(HU_EINVAL, "gather: an index is none of the axis' elements");
	case 0: return HU_OK;
	default: return hu_fail(HU_EINVAL, "a kernel refused a value for a reason of unknown number %u", fault);
	}
}

hu_status
hu_machine_watch(hu_machine *m, const int *value, int nvalue, const int *counted, int ncounted, const int *surveyed,
	int nsurveyed)
{
	hu_look *k = &m->look;
	size_t at = (sizeof(hu_pulse) + 15) / 16 * 16;
	int updates = 0;

	HU_TRY(m->side->wait(m->queue));
	hu_machine_look_close(m);
	hu_machine_drop_graphs(m);
	k->value = hu_xmalloc(((size_t)nvalue + 1) * sizeof *value);
	k->at = hu_xmalloc(((size_t)nvalue + 1) * sizeof *k->at);
	k->counted = hu_xmalloc(((size_t)ncounted + 1) * sizeof *counted);
	k->surveyed = hu_xmalloc(((size_t)nsurveyed + 1) * sizeof *surveyed);
	for (int i = 0; i < nsurveyed; i++)
		k->surveyed[i] = surveyed[i];
	for (int i = 0; i < nvalue; i++)
		k->value[i] = value[i];
	for (int i = 0; i < ncounted; i++)
		k->counted[i] = counted[i];
	for (int i = 0; i < nvalue; i++) {
		k->at[i] = (uint32_t)at;
		at += (hu_slot_bytes(&m->t[value[i]]) + 15) / 16 * 16;
	}
	k->tally_at = at;
	k->update_at = at + (size_t)ncounted * sizeof(hu_tally);
	k->update_of = hu_xmalloc(((size_t)m->p->nc + 1) * sizeof *k->update_of);
	for (int i = 0; i < m->p->nc; i++)
		k->update_of[i] = hu_is_update(m->p, &m->p->c[i]) && HU_COLUMN(m->p->c[i].op, updates) ? updates++ : -1;
	k->census_at = k->update_at + (size_t)updates * sizeof(hu_update_tally);
	k->bytes = k->census_at + (size_t)nsurveyed * sizeof(hu_census);
	for (int i = 0; i < 2; i++) {
		if (m->side->alloc((void **)&k->block[i], k->bytes) != HU_OK)
			return hu_machine_out_of_memory(m, k->bytes);
		HU_TRY(m->side->host_alloc((void **)&k->host[i], k->bytes));
		HU_TRY(m->side->queues->event_open(&k->event[i]));
	}
	k->nvalue = nvalue;
	k->ncounted = ncounted;
	k->nsurveyed = nsurveyed;
	return HU_OK;
}

void
hu_machine_look_close(hu_machine *m)
{
	hu_look *k = &m->look;

	for (int i = 0; i < 2; i++) {
		m->side->release(k->block[i]);
		if (k->host[i])
			m->side->host_release(k->host[i]);
		if (k->event[i])
			m->side->queues->event_close(k->event[i]);
	}
	free(k->value);
	free(k->at);
	free(k->counted);
	free(k->surveyed);
	free(k->update_of);
	memset(k, 0, sizeof *k);
}

/* Computes the digest of the state as it will be after the commit. */
static hu_status
digest_next(hu_machine *m)
{
	const hu_program *p = m->p;
	const hu_slot **t = hu_xmalloc(((size_t)p->nt + 1) * sizeof *t);
	uint64_t *name = hu_xmalloc(((size_t)p->nt + 1) * sizeof *name);
	int n = 0;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].state && m->t[i].n && hu_machine_holds(m, i)) {
			t[n] = &m->t[p->t[i].next >= 0 ? p->t[i].next : i];
			name[n++] = m->name_hash[i];
		}
	hu_status st = m->side->clear(m->queue, &m->pulse->digest, sizeof m->pulse->digest);
	if (st == HU_OK)
		st = m->side->look->digest(m->queue, t, name, n, &m->pulse->digest);
	free(t);
	free(name);
	return st;
}

/* Sets the counts to 0. */
hu_status
hu_machine_look_begin(hu_machine *m)
{
	hu_look *k = &m->look;
	unsigned char *block = k->block[m->schedule.turn & 1];

	return block && k->bytes > k->tally_at ? m->side->clear(m->queue, block + k->tally_at, k->bytes - k->tally_at)
					       : HU_OK;
}

hu_update_tally *
hu_machine_update_counts(const hu_machine *m, int call)
{
	const hu_look *k = &m->look;
	unsigned char *block = k->block[m->schedule.turn & 1];

	return block && k->update_of[call] >= 0 ? (hu_update_tally *)(block + k->update_at) + k->update_of[call] : NULL;
}

/* Takes a cast's input and output together, to count what the cast lost. */
static hu_status
survey(hu_machine *m, unsigned char *block)
{
	hu_look *k = &m->look;
	const hu_slot **t = hu_xcalloc(3 * (size_t)k->nsurveyed + 1, sizeof *t), **before = t + k->nsurveyed,
		      **scale = before + k->nsurveyed;
	int from, by;

	for (int i = 0; i < k->nsurveyed; i++) {
		t[i] = &m->t[k->surveyed[i]];
		if (hu_is_cast(m->p, k->surveyed[i], &from, &by)) {
			before[i] = &m->t[from];
			scale[i] = by >= 0 ? &m->t[by] : NULL;
		}
	}
	hu_status st =
		m->side->look->census(m->queue, t, before, scale, k->nsurveyed, (hu_census *)(block + k->census_at));
	free(t);
	return st;
}

hu_status
hu_machine_look(hu_machine *m)
{
	hu_look *k = &m->look;
	unsigned char *block = k->block[m->schedule.turn & 1];

	if (!block)
		return HU_OK;
	HU_TRY(digest_next(m));
	const hu_slot **t = hu_xmalloc(((size_t)k->ncounted + 1) * sizeof *t);
	hu_look_part *part = hu_xmalloc(((size_t)k->nvalue + 1) * sizeof *part);
	for (int i = 0; i < k->ncounted; i++)
		t[i] = &m->t[k->counted[i]];
	part[0] = (hu_look_part){ m->pulse, sizeof *m->pulse, 0 };
	for (int i = 0; i < k->nvalue; i++)
		part[i + 1] =
			(hu_look_part){ m->t[k->value[i]].data, (uint32_t)hu_slot_bytes(&m->t[k->value[i]]), k->at[i] };
	hu_status st = m->side->look->tally(m->queue, t, k->ncounted, (hu_tally *)(block + k->tally_at));
	if (st == HU_OK)
		st = survey(m, block);
	if (st == HU_OK)
		st = m->side->look->pack(m->queue, block, part, k->nvalue + 1);
	free(t);
	free(part);
	return st;
}

hu_status
hu_machine_look_send(hu_machine *m)
{
	hu_look *k = &m->look;
	int at = m->schedule.turn & 1;

	if (!k->block[at])
		return HU_OK;
	HU_TRY(m->side->download(m->queue, k->host[at], k->block[at], k->bytes));
	HU_TRY(m->side->queues->event_record(m->queue, k->event[at]));
	k->made = k->made && k->last != at ? 2 : 1;
	k->last = at;
	return HU_OK;
}

/* Returns the block that reads refer to, once it has arrived; NULL if none is filled. */
static const unsigned char *
block_to_read(hu_machine *m, int uncommitted, hu_status *st)
{
	hu_look *k = &m->look;
	int at = k->back ? !k->last : k->last;
	hu_pulse now;

	if (k->made <= k->back || (!k->back && m->schedule.stepped != uncommitted))
		return NULL;
	*st = m->side->queues->event_wait(k->event[at]);
	if (*st == HU_OK) {
		memcpy(&now, k->host[at], sizeof now);
		*st = hu_machine_fault(now.fault);
	}
	return k->host[at];
}

void
hu_machine_lag(hu_machine *m, int back)
{
	m->look.back = back != 0;
}

int
hu_machine_seen(hu_machine *m, int tensor, const void **at, hu_status *st)
{
	const hu_look *k = &m->look;
	const unsigned char *block;

	for (int i = 0; i < k->nvalue; i++)
		if (k->value[i] == tensor) {
			block = block_to_read(m, 1, st);
			*at = block ? block + k->at[i] : NULL;
			return block != NULL;
		}
	return 0;
}

int
hu_machine_tally(hu_machine *m, int tensor, hu_tally *tally, hu_status *st)
{
	const hu_look *k = &m->look;
	const unsigned char *block;

	for (int i = 0; i < k->ncounted; i++)
		if (k->counted[i] == tensor && (block = block_to_read(m, 1, st))) {
			memcpy(tally, block + k->tally_at + (size_t)i * sizeof *tally, sizeof *tally);
			return 1;
		}
	return 0;
}

int
hu_machine_census(hu_machine *m, int tensor, hu_census *census, hu_status *st)
{
	const hu_look *k = &m->look;
	const unsigned char *block;

	for (int i = 0; i < k->nsurveyed; i++)
		if (k->surveyed[i] == tensor && (block = block_to_read(m, 1, st))) {
			memcpy(census, block + k->census_at + (size_t)i * sizeof *census, sizeof *census);
			return 1;
		}
	return 0;
}

int
hu_machine_updates(hu_machine *m, int call, hu_update_tally *count, hu_status *st)
{
	const hu_look *k = &m->look;
	const unsigned char *block;

	if (!k->update_of || k->update_of[call] < 0 || !(block = block_to_read(m, 1, st)))
		return 0;
	memcpy(count, block + k->update_at + (size_t)k->update_of[call] * sizeof *count, sizeof *count);
	return 1;
}

int
hu_machine_digest_seen(hu_machine *m, uint64_t *digest, hu_status *st)
{
	const unsigned char *block = block_to_read(m, 0, st); /* committed since it was filled */
	hu_pulse now;

	if (!block)
		return 0;
	memcpy(&now, block, sizeof now);
	*digest = now.digest;
	return 1;
}
