/* SPDX-License-Identifier: Apache-2.0
   Fake quantisation: what is left of a tensor after int8 codes, as calls of the program, for training that is aware of
   quantisation (Jacob and others: Quantization and training of neural networks, CVPR 2018). */
#ifndef HU_PROGRAM_FAKE_H
#define HU_PROGRAM_FAKE_H

#include "lib/program/program.h"

/* Returns tensor t of float32, of rank 1 or more, as multiples of its scale, an earlier such tensor where there is one:
   y = s min(max(rint(t / s), -127), 127) with s = max(amax, 2^-100) times fl(1/127), where amax is the largest
   magnitude of each channel, an index of the last axis (per_channel), or of all of t. So scales are those of the values
   at hand, nothing is clipped, and a gradient goes straight through. The calls are forward calls of that layer. */
int hu_fake_quantise(hu_program *p, int t, int per_channel, const char *layer);
#endif
