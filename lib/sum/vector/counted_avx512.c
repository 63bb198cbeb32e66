/* SPDX-License-Identifier: Apache-2.0
   The loop of counted.inc for AVX-512. */
#if defined(__AVX512F__)
#include <immintrin.h>

#define HU_W 16
#define HU_FMA _mm512_fmadd_ps
#include "lib/sum/vector/counted.inc"

const hu_counted_kernel hu_counted_avx512 = { count, each };
#endif
