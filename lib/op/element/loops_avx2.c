/* SPDX-License-Identifier: Apache-2.0
   The formulas' loops for AVX2. On other processors this file is empty. */
#include "lib/op/element/loops.h"

#if defined(__AVX2__)
#define HU_LOOP(NAME) hu_loop_##NAME##_avx2
#include "lib/op/element/loops.inc"
#endif
