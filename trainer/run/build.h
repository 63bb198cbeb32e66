/* SPDX-License-Identifier: Apache-2.0
   Makes a configuration's two programs by the model's builder, the passes in their order, and the optimizer. */
#ifndef HU_TRAINER_BUILD_H
#define HU_TRAINER_BUILD_H

#include "trainer/run/config.h"

typedef struct hu_programs { hu_program *train, *eval; } hu_programs;

/* The training program has the forward calls, the policy's casts, the gradient of the loss, differentiation, loss
   scaling, the gradient norm, the optimizer, and the summation model of its products. The evaluation program has the
   forward calls, the casts and the summation model. */
hu_status hu_build(hu_programs *out, const hu_config *c, const hu_model_sizes *s);
void hu_programs_release(hu_programs *p);
#endif
