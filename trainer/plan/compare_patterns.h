/* SPDX-License-Identifier: Apache-2.0
   Patterns of names in compare: tensors that one policy's program has, such as its casts, others may lack. A pattern of
   no_decay, --trace or --count has to fit in one of the runs, and each run is told of those that fit in it. */
#ifndef HU_TRAINER_COMPARE_PATTERNS_H
#define HU_TRAINER_COMPARE_PATTERNS_H

#include "trainer/plan/compare_units.h"

/* HU_EINVAL names a pattern that fits in no run. Where the data cannot be opened nothing is refused: train says why,
   run for run. */
hu_status hu_compare_patterns_check(const hu_comparison *c, const hu_args *a);

/* Leaves in the run's configuration the patterns that fit its program, which may be none: "". Returns 0 where the run
   would record steps and has none of the tensors that were asked for: it then records nothing, and there is nothing to
   analyze; otherwise 1. */
int hu_compare_patterns_narrow(hu_config *run, const hu_args *a);
#endif
