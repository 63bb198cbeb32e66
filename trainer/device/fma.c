/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/fma.h"

#include "lib/number/simd.h"

#include <stddef.h>

double
hu_fma_peak(void)
{
	double best = -1;
#if defined(__x86_64__)
	double (*trial)(double *) = hu_simd_level() == HU_SIMD_AVX512 ? hu_fma_trial_avx512
				    : hu_simd_level() == HU_SIMD_AVX2 ? hu_fma_trial_avx2
								      : NULL;

	for (int i = 0; i < 5 && trial; i++) {
		double flops, s = trial(&flops);
		best = s > 0 && flops / s > best ? flops / s : best;
	}
#endif
	return best;
}
