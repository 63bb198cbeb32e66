/* SPDX-License-Identifier: Apache-2.0
   The loop of counted.inc for AVX2. */
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define HU_W 8
#define HU_FMA _mm256_fmadd_ps
#include "lib/sum/vector/counted.inc"

const hu_counted_kernel hu_counted_avx2 = { count, each };
#endif
