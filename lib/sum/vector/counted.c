/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/vector/counted.h"

#include "lib/number/simd.h"

const hu_counted_kernel *
hu_counted_get(void)
{
	return HU_SIMD_PICK(&hu_counted_avx512, &hu_counted_avx2, NULL);
}
