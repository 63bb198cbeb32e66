/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/simd.h"
#include "lib/op/contract/attention/lanes.inc"

const hu_flash_loops hu_flash_loops_plain = { products, powers, add, add_one };

const hu_flash_loops *
hu_flash_loops_get(void)
{
	return HU_SIMD_PICK(&hu_flash_loops_avx512, &hu_flash_loops_avx2, &hu_flash_loops_plain);
}
