/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/mixed.h"

#include "cuda/device/capability.h"

#include <stdio.h>

int
hu_mixed_fast(int capability)
{
	const hu_capability *c = hu_capability_of(capability);

	return c->fp16 && c->kernels != HU_KERNELS_NONE;
}

const char *
hu_mixed_support(int capability)
{
	static char text[400];
	const hu_capability *c = hu_capability_of(capability);
	int least = hu_capability_first(HU_KERNELS_SIMT), own = hu_capability_first(HU_KERNELS_ALL);

	if (!capability)
		return "mixed precision will not run fast on a processor; here it is for its numbers";
	if (!c->fp16)
		snprintf(text, sizeof text,
			"mixed precision will not run fast: compute capability below 7.0 has no matrix units; "
			"halfulp's kernels need %d.%d or newer",
			least / 10, least % 10);
	else if (c->kernels == HU_KERNELS_NONE)
		snprintf(text, sizeof text,
			"mixed precision will not run fast with halfulp, whose kernels need compute capability %d.%d "
			"or newer; in a framework mixed_float16 will, on this GPU's matrix units for fp16 (they have "
			"no bf16)",
			least / 10, least % 10);
	else if (c->kernels == HU_KERNELS_SIMT)
		snprintf(text, sizeof text,
			"mixed precision will run fast with mixed_float16 and --backend gemm=cublas: compute "
			"capability of at least 7.0, with matrix units for fp16; mixed_bfloat16 will not, they have no "
			"bf16, and halfulp's own kernels for matrix units need %d.%d",
			own / 10, own % 10);
	else
		return "mixed precision will run fast: compute capability of at least 7.0, with matrix units for fp16, "
		       "and here for bf16 and tf32 too";
	return text;
}

const char *
hu_matrix_features(int capability)
{
	return hu_capability_of(capability)->matrix;
}
