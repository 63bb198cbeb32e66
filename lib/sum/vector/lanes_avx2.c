/* SPDX-License-Identifier: Apache-2.0
   Summation models over outputs for AVX2 with FMA: 32 columns in fp32, 16 in doubles. */
#include "lib/sum/vector/lanes.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define HU_BYTES 32
#define FMA32(x, y, c) (lf)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(c))
#include "lib/sum/vector/lanes_both.inc"

const hu_lanes hu_lanes_avx2 = { LANES * HU_BYTES / 4, LANES * HU_BYTES / 8, lanes_f32, lanes_narrow };
#endif
