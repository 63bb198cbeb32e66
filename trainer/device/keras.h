/* SPDX-License-Identifier: Apache-2.0
   What Keras prints about this machine's GPUs when its policy mixed_float16 is set. */
#ifndef HU_TRAINER_KERAS_H
#define HU_TRAINER_KERAS_H

#include "lib/base/str.h"
#include "trainer/device/gpu.h"

/* Appends Keras's message for these n GPUs to s, without a last newline. For n = 0 it is the message for a machine
   without a GPU. */
void hu_keras_check(hu_str *s, const hu_gpu_name *g, int n);
#endif
