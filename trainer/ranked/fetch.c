/* SPDX-License-Identifier: Apache-2.0
   Tensors that rank 0 asks others for, because metrics or traces read them. They travel as the numbers that the host
   computes with. */
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/ranked/machine.h"

#include <stdlib.h>

int
hu_ranked_is_elsewhere(const hu_machine *m, int tensor)
{
	return hu_ranked_is_input(m, tensor) || m->s.at[tensor] > 0;
}

/* The bytes of tensor i that rank r sends, and where in the tensor they lie: the rows of its micro-batches where it is
   an input. */
static size_t
piece(const hu_machine *m, int i, int r, size_t *at)
{
	const hu_info *t = &m->s.p->t[i];
	size_t bytes = hu_count(t->shape) * hu_element_size(t->format);
	int first, n;

	*at = 0;
	if (!hu_ranked_is_input(m, i))
		return bytes;
	n = hu_spread_share(m->s.micro_batches, m->s.ranks, r, &first);
	bytes /= (size_t)m->s.micro_batches;
	*at = (size_t)first * bytes;
	return (size_t)n * bytes;
}

static void *
room_for(const hu_machine *m, int i)
{
	const hu_info *t = &m->s.p->t[i];

	return hu_xalloc(hu_count(t->shape) * hu_element_size(t->format) + 1);
}

hu_status
hu_ranked_answer(hu_machine *m, int i)
{
	size_t at, bytes = piece(m, i, m->s.rank, &at);

	if (!hu_ranked_is_input(m, i) && m->s.at[i] != m->s.rank)
		return HU_OK;
	char *values = room_for(m, i);
	hu_status st = m->of->read(m->own, i, values);
	if (st == HU_OK)
		hu_ranks_send(0, HU_TAG_READ, values + at, bytes);
	free(values);
	return st;
}

hu_status
hu_ranked_fetch(hu_machine *m, int i)
{
	const hu_info *t = &m->s.p->t[i];
	hu_tensor *f = &m->fetched[i];

	if (f->data || !hu_ranked_is_elsewhere(m, i))
		return HU_OK;
	hu_ranked_order_next(HU_RANKED_READ, i);
	*f = (hu_tensor){ .format = t->format, .shape = t->shape, .n = hu_count(t->shape), .data = room_for(m, i) };
	if (hu_ranked_is_input(m, i))
		HU_TRY(m->of->read(m->own, i, f->data));
	for (int r = 1; r < m->s.ranks; r++) {
		size_t at, bytes = piece(m, i, r, &at);
		if (hu_ranked_is_input(m, i) || m->s.at[i] == r)
			hu_ranks_receive(r, HU_TAG_READ, (char *)f->data + at, bytes);
	}
	return HU_OK;
}

void
hu_ranked_forget(hu_machine *m)
{
	for (int i = 0; i < m->s.p->nt; i++) {
		free(m->fetched[i].data);
		m->fetched[i].data = NULL;
	}
}
