/* SPDX-License-Identifier: Apache-2.0
   What a GPU's compute capability says of mixed precision: a decision apart from any asking, so
   that machines without a GPU test it. Capabilities are times ten (90: 9.0); 0: a processor. */
#ifndef HU_TRAINER_VERDICT_H
#define HU_TRAINER_VERDICT_H

/* 1 where mixed_float16 runs on matrix units by what this program has for them. */
int hu_mixed_fast(int capability);

/* A sentence without its stop: whether mixed precision will run fast here, and why. It says of this program's kernels
   what cuda/device/verdict.h decides, since both read cuda/device/capabilities.def. Valid until the next call. */
const char *hu_mixed_verdict(int capability);

/* What the matrix units multiply, and by which instructions; "none" where there are none. Static text. */
const char *hu_matrix_features(int capability);
#endif
