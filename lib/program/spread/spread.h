/* SPDX-License-Identifier: Apache-2.0
   Data-parallel execution: which rank runs which calls of a training step of several micro-batches, and which tensors
   travel. The program is that of one process; each call runs where its micro-batch is, with the operands that it has in
   the program, so no bit depends on the number of ranks.

   Rank r has the micro-batches [iM/R, (i+1)M/R) with i = R - 1 - r, rounded down: rank 0 has the last ones, so that the
   sums over all of them, the loss and the rows of all outputs are made where the run is recorded. A call runs at the
   rank of the last micro-batch that its inputs depend on. What the update phase reads, that is the sums of gradients,
   is sent from there to all ranks, and so are the next values of states; the update phase runs on every rank. A state
   that belongs to a micro-batch (hu_info.own), such as the error that error feedback keeps, is at that micro-batch's
   rank alone, which updates it.

   Two things would make ranks wait for each other or send all that they have. Running statistics pass from one
   micro-batch to the next: a call with such a result (hu_op.carried) runs without waiting for them, and before the
   update phase its column `carry` computes that result alone. The finite check names the first tensor of a skipped step
   that is not finite: every rank looks through its own, and only what they count travels. */
#ifndef HU_PROGRAM_SPREAD_H
#define HU_PROGRAM_SPREAD_H

#include "lib/program/program.h"

enum { HU_EVERYWHERE = -1 };

/* What a rank does, in this order: it runs or carries a call, receives a tensor from peer, posts one to peer, or takes
   part in a broadcast from peer or, with all others, in the finite check or in the call of a library that adds what
   ranks have. */
typedef enum hu_spread_action {
	HU_DO_RUN,
	HU_DO_CARRY,
	HU_DO_CHECK,
	HU_DO_RECEIVE,
	HU_DO_POST,
	HU_DO_BROADCAST,
	HU_DO_REDUCE
} hu_spread_action;
typedef struct hu_spread_do { hu_spread_action action; int id, peer, tag; } hu_spread_do;

typedef struct hu_spread {
	const hu_program *p;
	int ranks, rank, micro_batches;
	int *at;           /* for each tensor but inputs the rank that has it after a step, or HU_EVERYWHERE */
	char *need;        /* for each tensor whether this rank holds it */
	hu_spread_do *todo;
	int n, cap;
	size_t first, rows; /* this rank's rows of a batch */
} hu_spread;

/* Makes the list of what `rank` of `ranks` does in a step of p, which must outlive *s. HU_EINVAL where p has fewer
   micro-batches than ranks; HU_EUNABLE where an input is not cut into micro-batches, or a pair of ranks would exchange
   more than 32 000 tensors. */
hu_status hu_spread_init(hu_spread *s, const hu_program *p, int ranks, int rank);
void hu_spread_release(hu_spread *s);
/* Which micro-batches a rank has: *first and how many. */
int hu_spread_share(int micro_batches, int ranks, int rank, int *first);

/* How many inputs of a call decide what it computes: a finite check searches the others in a skipped step alone. */
int hu_spread_judged(const hu_call *c);

/* The operand that rank r of s has of such a call, which has one for each rank: of rank 0 the last one. */
int hu_spread_operand(const hu_spread *s, int r);
#endif
