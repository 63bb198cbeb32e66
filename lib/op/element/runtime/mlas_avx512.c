/* SPDX-License-Identifier: Apache-2.0
   The loops of mlas.inc for AVX-512. On other processors this file is empty. */
#include "lib/op/element/runtime/mlas.h"

#if defined(__AVX512F__)
#define MLAS_LOOP(NAME) hu_mlas_##NAME##_avx512
#include "lib/op/element/runtime/mlas.inc"
#endif
