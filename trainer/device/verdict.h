/* SPDX-License-Identifier: Apache-2.0
   What a GPU's compute capability says of mixed precision: a decision apart from any asking, so
   that machines without a GPU test it. Capabilities are times ten (90: 9.0); 0: a processor. */
#ifndef HU_TRAINER_VERDICT_H
#define HU_TRAINER_VERDICT_H

/* 1 where mixed_float16 runs on matrix units. */
int hu_mixed_fast(int capability);

/* The sentence that Keras users know, without its stop: whether mixed precision will run fast here, and why. Static text. */
const char *hu_mixed_verdict(int capability);

/* What the matrix units multiply, and by which instructions; "none" where there are none. Static text. */
const char *hu_matrix_features(int capability);
#endif
