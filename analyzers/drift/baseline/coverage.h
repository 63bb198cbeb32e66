/* SPDX-License-Identifier: Apache-2.0
   What is said of a new baseline: what moved since the one before, and what the new one could not see. */
#ifndef HU_ANALYZERS_COVERAGE_H
#define HU_ANALYZERS_COVERAGE_H

#include "analyzers/drift/baseline/drift.h"
#include "lib/base/str.h"

/* Events that a training may have and a check can only judge where it had them. */
enum {
	HU_SAW_SKIP = 1,      /* a step that was skipped because a gradient overflowed */
	HU_SAW_GROWTH = 2,    /* the loss scale grew */
	HU_SAW_BACKOFF = 4,   /* it was reduced */
	HU_SAW_UNDERFLOW = 8, /* a cast made zeros or subnormal numbers of what was neither */
	HU_SAW_EVALUATION = 16,
	HU_SAW_TRACE = 32,  /* a step was traced */
	HU_SAW_SCALING = 64 /* the run has a dynamic loss scale at all */
};

/* Sets *saw to the events of a run that was analyzed. Fails with HU_EFILE where its tables cannot be read. */
hu_status hu_coverage(unsigned *saw, const hu_run *r);
/* Appends a line for each event that is not in `saw`: what a check against these runs cannot notice, and the option
   that would make it happen. Appends nothing where every event was seen. */
void hu_coverage_text(hu_str *s, unsigned saw, size_t steps);

/* Appends what moved from `was` to `is`: a line that counts the quantities, then the worst of them, headlines first. */
void hu_coverage_moved(hu_str *s, const hu_baseline *was, const hu_baseline *is);
#endif
