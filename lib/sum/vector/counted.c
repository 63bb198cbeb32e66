/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/vector/counted.h"

#include "lib/number/simd.h"

hu_counted_fma *
hu_counted_get(void)
{
#if defined(__x86_64__)
	switch (hu_simd_level()) {
	case HU_SIMD_AVX512: return hu_counted_avx512.fma;
	case HU_SIMD_AVX2: return hu_counted_avx2.fma;
	default: break;
	}
#endif
	return NULL;
}
