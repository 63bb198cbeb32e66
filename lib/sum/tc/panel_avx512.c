/* SPDX-License-Identifier: Apache-2.0
   The tensor-core micro-kernels for AVX-512: 32 columns. */
#include "lib/sum/tc/panel.h"

#if defined(__AVX512F__) && defined(__AVX512BW__)
#include <immintrin.h>

#define HU_W 16
#define HU_MAXH(a, b) (tch)_mm512_max_epi16((__m512i)(a), (__m512i)(b))
#define HU_MAXI(a, b) (tci)_mm512_max_epi32((__m512i)(a), (__m512i)(b))
#define HU_LOW(h) (tci)_mm512_cvtepi16_epi32(_mm512_castsi512_si256((__m512i)(h)))
#define HU_HIGH(h) (tci)_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64((__m512i)(h), 1))
#define HU_ANY(m) _mm512_test_epi32_mask((__m512i)(m), (__m512i)(m))
#include "lib/sum/tc/panel.inc"

const hu_tc_panel hu_tc_panel_avx512 = { 32, tc_near, tc_far };
#endif
