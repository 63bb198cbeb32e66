/* SPDX-License-Identifier: Apache-2.0
   The state a training starts from. */
#ifndef HU_TRAINER_START_H
#define HU_TRAINER_START_H

#include "trainer/run/config.h"

/* Fills t->data, which is allocated, with the first values of state tensor i of p. Weights follow Glorot's uniform
   rule: element k is limit * (2u - 1) with limit = sqrt(6 / (fan_in + fan_out)), computed in double and rounded once to
   the variable's format; u comes from the random stream init/LAYER.w at index k. So it depends on seed, name and
   element alone, and no cast or policy changes it. Biases, beta and means are 0; gamma and variances are 1. */
void hu_start_state(hu_tensor *t, const hu_program *p, int i, const hu_config *c);

/* Returns the parameter whose moving average state tensor i is, which starts with the parameter's first values; -1: it
   is none. */
int hu_start_averaged(const hu_program *p, int i);

/* Overwrites the parameters and statistics in t (by tensor id, data allocated) from a safetensors file. It accepts our
   own names (dense1.w), Keras's (dense1/kernel, bn1/moving_mean, also with a dot for the slash) and PyTorch's
   (dense1.weight stored [out, in], conv1.weight [out, in, kh, kw], bn1.running_mean). Values are rounded once to the
   variable's format; averages begin with them. HU_EFILE where a parameter is absent or its shape does not fit;
   statistics may be absent. */
hu_status hu_start_load(hu_tensor *t, const hu_program *p, const char *path);
#endif
