/* SPDX-License-Identifier: Apache-2.0
   The order in which a program's calls are launched, and which of them together (cuda/fuse/fuse.h).
   A plan computes every output of every call; it changes where calls stand, never what they say. */
#ifndef HU_CUDA_PLAN_H
#define HU_CUDA_PLAN_H

#include "cuda/exec/side.h"
#include "lib/program/program.h"

/* Calls call[first] to call[first + n - 1] of the plan; fusion NULL: one call, alone. ahead: all of them are casts that
   the updates of the step before have made already, unless the weights were written since. */
typedef struct hu_stage { const hu_fusion *fusion; int first, n, ahead; } hu_stage;

typedef struct hu_plan {
	hu_stage *stage;
	int nstage;
	int *call;
	int *copy; /* of each call of the program: the tensor that the update also writes for the next step; -1: none */
	int fused;       /* calls in passes of several */
} hu_plan;

/* FUSE 0: every call alone, as it stands. T: the program's tensors, which need no memory yet. */
void hu_plan_init(hu_plan *plan, const hu_program *p, const hu_side *side, const hu_slot *t, int fuse);
void hu_plan_release(hu_plan *plan);
/* The stage that computes CALL in a step after others: of a cast that an update makes, the update's. */
int hu_plan_stage_of(const hu_plan *plan, const hu_program *p, int call);
/* Bytes of the tensors T that a stage reads, each once and not those that it makes, and writes. */
double hu_plan_bytes(const hu_plan *plan, const hu_program *p, const hu_slot *t, int stage);
/* WORK of call C on tensors T, with nothing but call and tensors set; ALL: room for its inputs. */
void hu_plan_work(hu_work *w, const hu_call *c, const hu_slot *t, const hu_slot **all);
#endif
