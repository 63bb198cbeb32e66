/* SPDX-License-Identifier: Apache-2.0
   What a GPU's compute capability means for mixed precision. The decision takes the capability as an argument, so that
   machines without a GPU can test it. Capabilities are times ten (90 for 9.0); 0 stands for a processor. */
#ifndef HU_TRAINER_MIXED_H
#define HU_TRAINER_MIXED_H

/* Returns 1 where this program's kernels run mixed_float16 on matrix units. */
int hu_mixed_fast(int capability);

/* Returns a sentence without its full stop that says whether mixed precision will run fast, and why. It agrees with
   what cuda/device/usable.h decides, since both read cuda/device/capabilities.def. Valid until the next call. */
const char *hu_mixed_support(int capability);

/* Returns the formats that the matrix units multiply and the instructions that do it; "none" where there are none.
   Static text. */
const char *hu_matrix_features(int capability);
#endif
