/* SPDX-License-Identifier: Apache-2.0
   What Keras says of this machine's GPUs when its policy mixed_float16 is set. */
#ifndef HU_TRAINER_KERAS_H
#define HU_TRAINER_KERAS_H

#include "lib/base/str.h"
#include "trainer/device/gpu.h"

/* Adds Keras's words, lines without a last newline, for the n GPUs of this machine; 0: its words for a machine that has
   none. */
void hu_keras_check(hu_str *s, const hu_gpu_name *g, int n);
#endif
