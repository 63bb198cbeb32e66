/* SPDX-License-Identifier: Apache-2.0
   Where two runs diverge, in one line: step, call, tensor, element, how far, and the most likely cause. */
#ifndef HU_ANALYZERS_DIVERGENCE_H
#define HU_ANALYZERS_DIVERGENCE_H

#include "analyzers/drift/run_compare.h"
#include "lib/program/differ/apart.h"

typedef struct hu_divergence {
	size_t step;     /* traced step, or the step that a checkpoint stands before */
	int tensor;      /* number in the first run's training program */
	int checkpoint;  /* found in checkpoints and not in traces */
	hu_apart apart;  /* differ is 0 where nothing was found */
} hu_divergence;

/* Compares the states of the earliest checkpoint that both runs have in which any differs, by name. p->apart.differ
   stays 0 where none does, or where the runs have no checkpoint in common. HU_EFILE where one cannot be read. */
hu_status hu_divergence_of_states(hu_divergence *p, const hu_run *r, const hu_run *s);

/* Returns the line, which the caller frees. c says how settings and programs differ; `step` is the first of the `rows`
   common steps whose digest differs, or -1. */
char *hu_divergence_text(const hu_divergence *p, const hu_run_comparison *c, const hu_run *r, long long step, int rows);
#endif
