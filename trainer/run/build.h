/* SPDX-License-Identifier: Apache-2.0
   From a configuration to its two programs: the model's builder, the passes in their
   order, the optimizer. */
#ifndef HU_TRAINER_BUILD_H
#define HU_TRAINER_BUILD_H

#include "trainer/run/config.h"

typedef struct hu_programs { hu_program *train, *eval; } hu_programs;

/* Forward, policy, loss seed, differentiation, loss scaling, gradient norm, optimizer,
   accumulator; the evaluation program has forward, policy, accumulator. */
hu_status hu_build(hu_programs *out, const hu_config *c, const hu_model_sizes *s);
void hu_programs_release(hu_programs *p);
#endif
