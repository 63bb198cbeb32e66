/* SPDX-License-Identifier: Apache-2.0
   The step that an optimizer's update took in every weight of a tensor, beside the exact one: how many weights kept
   their bits although the exact step is not 0, and of these how many only weight decay would have moved. */
#ifndef HU_ANALYZERS_UPDATE_H
#define HU_ANALYZERS_UPDATE_H

#include "analyzers/run/analyzer.h"
#include "lib/judge/harm.h"
#include "lib/judge/judge.h"

/* Bins of ⌊log2 |w/d|⌋, of which the outermost two also take what lies beyond them. */
enum { HU_UPDATE_LOW = -64, HU_UPDATE_HIGH = 192, HU_UPDATE_BINS = HU_UPDATE_HIGH - HU_UPDATE_LOW + 1 };

/* d is a weight's exact step. It is by decay alone where the step without weight decay would have been exactly 0: the
   weight has no gradient, and no momentum of earlier ones. */
typedef struct hu_update {
	hu_harm harm;
	size_t n, moved, swamped;          /* weights; those with d != 0; those of them that kept their bits */
	size_t by_decay, swamped_by_decay; /* of the latter two, those whose d is by decay alone */
	size_t bin[HU_UPDATE_BINS], decay_bin[HU_UPDATE_BINS];
} hu_update;

/* Judges n weights from the first on of the update call c of the traced step t, whose operands are `in`. Adds to
   *methods how the exact steps were found. Fails with the tensor's name in the reason. */
hu_status hu_update_compute(hu_update *u, hu_analysis *a, hu_trace *t, const hu_call *c, hu_tensor *const *in,
	size_t first, size_t n, hu_methods *methods);

/* Adds u's counts, harm and histograms to those of `to`. */
void hu_update_merge(hu_update *to, const hu_update *u);

/* Passes an update through a pack. */
void hu_update_pack(hu_pack *r, hu_update *u);
#endif
