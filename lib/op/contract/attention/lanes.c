/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/simd.h"
#include "lib/op/contract/attention/lanes.inc"

const hu_flash_loops hu_flash_loops_plain = { products, powers, add, add_one };

const hu_flash_loops *
hu_flash_loops_get(void)
{
#if defined(__x86_64__)
	switch (hu_simd_level()) {
	case HU_SIMD_AVX512: return &hu_flash_loops_avx512;
	case HU_SIMD_AVX2: return &hu_flash_loops_avx2;
	default: break;
	}
#endif
	return &hu_flash_loops_plain;
}
