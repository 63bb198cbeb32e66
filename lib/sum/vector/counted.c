/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/vector/counted.h"

#include "lib/number/simd.h"

hu_counted_fma *
hu_counted_get(void)
{
	return HU_SIMD_PICK(hu_counted_avx512.fma, hu_counted_avx2.fma, NULL);
}
