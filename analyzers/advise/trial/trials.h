/* SPDX-License-Identifier: Apache-2.0
   Runs of a model in some precision on both halves of the inputs, held to float32: the first half is searched on, the
   second is held apart. Inputs run in batches, or where shapes follow from their values by a program each. */
#ifndef HU_ANALYZERS_ADVISE_TRIALS_H
#define HU_ANALYZERS_ADVISE_TRIALS_H

#include "analyzers/validate/each/each.h"

/* n, half, d, batch and bar are the caller's, and outlive it. base: float32's outputs of each half; each: the same
   where inputs have a program each. */
typedef struct hu_trials {
	hu_network *n;
	const hu_samples *half;
	hu_deciding *d;
	size_t batch;
	hu_progress *bar;
	hu_evaluated base[2];
	hu_each each[2];
	hu_each_lists lists;
} hu_trials;

/* Runs float32 on both halves. *float_bytes becomes what its weights take. Where inputs have a program each, *d becomes
   what they decide. */
hu_status hu_trials_open(hu_trials *t, double *float_bytes);
/* What network N, t->n or another with its inputs and outputs, does under the variant V on half H. *WORST, which the
   caller frees, becomes the node of the first result that is not finite, NULL: there is none; WORST may be NULL. */
hu_status hu_trials_run(hu_effect *r, char **worst, const hu_trials *t, hu_network *n, const hu_variant *v, int h);
/* What float32 shows of the labels of half H. */
double hu_trials_accuracy(const hu_trials *t, int h);
/* Network N with the inputs of half H; only its pointer to them is its own. */
hu_network hu_trials_view(const hu_trials *t, const hu_network *n, int h);
void hu_trials_release(hu_trials *t);
#endif
