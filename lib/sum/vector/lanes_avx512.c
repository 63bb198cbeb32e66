/* SPDX-License-Identifier: Apache-2.0
   Summation models over outputs for AVX-512: 64 columns in fp32, 32 in doubles. */
#include "lib/sum/vector/lanes.h"

#if defined(__AVX512F__)
#include <immintrin.h>

#define HU_BYTES 64
#define FMA32(x, y, c) (lf)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(c))
#include "lib/sum/vector/lanes_both.inc"

const hu_lanes hu_lanes_avx512 = { LANES * HU_BYTES / 4, LANES * HU_BYTES / 8, lanes_f32, lanes_narrow };
#endif
