/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/verdict/verdict.inc"

#include "lib/number/simd.h"

const hu_verdicts hu_verdicts_scalar = { judge, difference, plain, add, step };

const hu_verdicts *
hu_verdicts_get(void)
{
	return HU_SIMD_PICK(&hu_verdicts_avx512, &hu_verdicts_avx2, &hu_verdicts_scalar);
}
