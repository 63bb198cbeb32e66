/* SPDX-License-Identifier: Apache-2.0
   An engine whose work was recorded: the forward pass of one traced step of a run, as a program and its tensors. */
#ifndef HU_ANALYZERS_ENGINES_FORWARD_H
#define HU_ANALYZERS_ENGINES_FORWARD_H

#include "analyzers/engines/logits.h"
#include "lib/program/exec.h"
#include "lib/store/run.h"

typedef struct hu_forward {
	hu_run run;       /* empty where the engine is a variant of another one's (variant.h) */
	const char *name; /* the run's folder */
	size_t step;
	uint64_t seed;
	const hu_program *p; /* the program whose forward calls are looked at */
	hu_tensor *t;        /* by id; without data where it was not recorded */
	hu_program *made;    /* of a variant: its program and what executed it */
	hu_exec exec;
} hu_forward;

/* Opens n runs, one or two, at the step `step`, or, where that is negative, at the first that all have traced. HU_EFILE
   says why there is none. Nothing is to be released where it fails. */
hu_status hu_forward_open(hu_forward *e, int n, const char *const *dir, long long step);
void hu_forward_release(hu_forward *e);

/* The logits of a step: the tensor `name`, or, where that is NULL, the first that a loss reads. Of a tensor [rows,
   classes] whose rows are the tokens of several samples each sample is a sequence. HU_EFILE where there is none, or
   where it was not recorded. */
hu_status hu_forward_logits(hu_logits *l, const hu_forward *e, const char *name);
/* Cuts both to the sequences that both have, where the engines computed batches of different sizes. */
void hu_forward_cut(hu_logits *a, hu_logits *b);

/* Elements that the tensors a and b, of two engines, have in common: all of them, or, where their shapes differ in the
   first axis alone, those of the rows that both have; 0 where other axes differ too, or where one has no data. */
size_t hu_forward_common(const hu_tensor *a, const hu_tensor *b);
/* Whether the first n elements are the same numbers, NaN of any kind among them, and zeros of one sign. */
int hu_forward_same(const hu_tensor *a, const hu_tensor *b, size_t n);
#endif
