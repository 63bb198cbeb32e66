/* SPDX-License-Identifier: Apache-2.0
   The order in which a program's calls are launched, and which of them are fused (cuda/fuse/fuse.h). A plan computes
   every output of every call; it changes the order of calls but not what they compute. */
#ifndef HU_CUDA_PLAN_H
#define HU_CUDA_PLAN_H

#include "cuda/fuse/side.h"
#include "lib/program/program.h"

/* Calls call[first] to call[first + n - 1] of the plan. fusion is NULL for a single call. ahead is 1 if all of them are
   casts that the updates of the step before already made, unless the weights were written since. */
typedef struct hu_stage { const hu_fusion *fusion; int first, n, ahead; } hu_stage;

typedef struct hu_plan {
	hu_stage *stage;
	int nstage;
	int *call;
	/* for each call of the program: the tensor that the update also writes for the next step; -1: none */
	int *copy;
	int fused;       /* number of calls in passes of several calls */
} hu_plan;

/* Makes a plan. If fuse is 0 every call is alone and in its place. t are the program's tensors, which need no memory
   yet. */
void hu_plan_init(hu_plan *plan, const hu_program *p, const hu_side *side, const hu_slot *t, int fuse);
/* Makes a plan of a step that is executed in stretches: calls are fused with others of their stretch alone, which for
   call i is stretch[i], from 0 and ascending; calls of stretch -1 are not in the plan. Its stages are in the order of
   stretches. */
void hu_plan_init_stretches(hu_plan *plan, const hu_program *p, const hu_side *side, const hu_slot *t, int fuse,
	const int *stretch);
void hu_plan_release(hu_plan *plan);
/* The stage that computes this call in any step but the first: for a cast that an update makes, the update's stage. */
int hu_plan_stage_of(const hu_plan *plan, const hu_program *p, int call);
/* Bytes of the tensors that a stage reads, each once and without those that it computes itself, and of those it
   writes. */
double hu_plan_bytes(const hu_plan *plan, const hu_program *p, const hu_slot *t, int stage);
/* Sets up *w for call c on tensors t, with nothing but call and tensors set; all needs room for the call's inputs. */
void hu_plan_work(hu_work *w, const hu_call *c, const hu_slot *t, const hu_slot **all);
#endif
