/* SPDX-License-Identifier: Apache-2.0
   The tensor-core micro-kernels for any processor, and the choice of kernels for this one. */
#include "lib/sum/tc/panel.h"

#include "lib/number/simd.h"

typedef int32_t low __attribute__((vector_size(16)));
typedef int16_t high __attribute__((vector_size(16)));

static inline low
most32(low a, low b)
{
	low m = a > b;

	return (a & m) | (b & ~m);
}

static inline high
most16(high a, high b)
{
	high m = a > b;

	return (a & m) | (b & ~m);
}

#define HU_W 4
#define HU_MAXH(a, b) (tch)most16((high)(a), (high)(b))
#define HU_MAXI(a, b) (tci)most32((low)(a), (low)(b))
#define HU_LOW(h) ((tci){ (h)[0], (h)[1], (h)[2], (h)[3] })
#define HU_HIGH(h) ((tci){ (h)[4], (h)[5], (h)[6], (h)[7] })
#define HU_ANY(m) ((m)[0] | (m)[1] | (m)[2] | (m)[3])
#include "lib/sum/tc/panel.inc"

const hu_tc_panel hu_tc_panel_scalar = { 8, tc_near, tc_far };

const hu_tc_panel *
hu_tc_panel_get(void)
{
	return HU_SIMD_PICK(&hu_tc_panel_avx512, &hu_tc_panel_avx2, &hu_tc_panel_scalar);
}
