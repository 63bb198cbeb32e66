/* SPDX-License-Identifier: Apache-2.0
   The loops of mlas.inc for AVX2. On other processors this file is empty. */
#include "lib/op/element/runtime/mlas.h"

#if defined(__AVX2__)
#define MLAS_LOOP(NAME) hu_mlas_##NAME##_avx2
#include "lib/op/element/runtime/mlas.inc"
#endif
