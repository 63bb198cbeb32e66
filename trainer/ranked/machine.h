/* SPDX-License-Identifier: Apache-2.0
   The machine of a shared training, which the back end (ranked.c) and what brings tensors to rank 0 (fetch.c) know. */
#ifndef HU_TRAINER_RANKED_MACHINE_H
#define HU_TRAINER_RANKED_MACHINE_H

#include "lib/program/spread/part.h"
#include "trainer/ranked/orders.h"

/* Above the tags of a step (lib/program/spread/spread.c). */
enum { HU_TAG_READ = 32700 };

struct hu_machine {
	const hu_backend *of;
	/* of that back end: this rank's part or, on rank 0, the evaluation's program; or NULL */
	struct hu_machine *own;
	hu_spread s;
	int shared;             /* 0: the evaluation's program, which rank 0 has to itself */
	int joined;             /* 1: a library connects the ranks */
	hu_tensor *fetched;     /* rank 0: what it fetched of other ranks since the step; other tensors have no data */
	double steps, seconds, waited, sent, received; /* of the steps alone */
	double started;         /* when the last step began */
	uint64_t digest;
};

/* Returns 1 for an input, of which every rank has its own rows. */
static inline int
hu_ranked_is_input(const hu_machine *m, int tensor)
{
	return m->s.p->t[tensor].producer < 0 && !m->s.p->t[tensor].state;
}

/* fetch.c: returns 1 if another rank has the tensor, or rows of it. */
int hu_ranked_is_elsewhere(const hu_machine *m, int tensor);
/* Rank 0: has the ranks that hold a tensor, or rows of it, send them to m->fetched. */
hu_status hu_ranked_fetch(hu_machine *m, int tensor);
/* Drops what was fetched. */
void hu_ranked_forget(hu_machine *m);
#endif
