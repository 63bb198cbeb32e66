/* SPDX-License-Identifier: Apache-2.0
   The tensor-core micro-kernels for AVX2: 16 columns. */
#include "lib/sum/tc/panel.h"

#if defined(__AVX2__)
#include <immintrin.h>

#define HU_W 8
#define HU_MAXH(a, b) (tch)_mm256_max_epi16((__m256i)(a), (__m256i)(b))
#define HU_MAXI(a, b) (tci)_mm256_max_epi32((__m256i)(a), (__m256i)(b))
#define HU_LOW(h) (tci)_mm256_cvtepi16_epi32(_mm256_castsi256_si128((__m256i)(h)))
#define HU_HIGH(h) (tci)_mm256_cvtepi16_epi32(_mm256_extracti128_si256((__m256i)(h), 1))
#define HU_ANY(m) _mm256_movemask_ps((__m256)(m))
#include "lib/sum/tc/panel.inc"

const hu_tc_panel hu_tc_panel_avx2 = { 16, tc_near, tc_far };
#endif
