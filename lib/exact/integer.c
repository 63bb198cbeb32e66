/* SPDX-License-Identifier: Apache-2.0
   The choice of the integer kernel. */
#include "lib/exact/integer.h"

#include "lib/number/simd.h"

const hu_integer *
hu_integer_get(void)
{
#if defined(__x86_64__)
	if (hu_simd_level() == HU_SIMD_AVX512 && __builtin_cpu_supports("avx512ifma"))
		return &hu_integer_avx512;
#endif
	return NULL;
}
