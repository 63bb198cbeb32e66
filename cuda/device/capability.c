/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/device/capability.h"

static const hu_capability rows[] = {
#define CAPABILITY(from, fp16, bf16, kernels, matrix) { from, fp16, bf16, HU_KERNELS_##kernels, matrix },
#include "cuda/device/capabilities.def"
#undef CAPABILITY
};

enum { ROWS = sizeof rows / sizeof *rows };

const hu_capability *
hu_capability_of(int capability)
{
	int i = ROWS - 1;

	while (i > 0 && capability < rows[i].from)
		i--;
	return &rows[i];
}

int
hu_capability_first(hu_kernels kernels)
{
	int i = 0;

	while (i < ROWS - 1 && rows[i].kernels < kernels)
		i++;
	return rows[i].from;
}
