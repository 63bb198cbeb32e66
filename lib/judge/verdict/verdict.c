/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/verdict/verdict.inc"

#include "lib/number/simd.h"

const hu_verdicts hu_verdicts_scalar = { judge, plain, add, step };

const hu_verdicts *
hu_verdicts_get(void)
{
#if defined(__x86_64__)
	switch (hu_simd_level()) {
	case HU_SIMD_AVX512: return &hu_verdicts_avx512;
	case HU_SIMD_AVX2: return &hu_verdicts_avx2;
	default: break;
	}
#endif
	return &hu_verdicts_scalar;
}
