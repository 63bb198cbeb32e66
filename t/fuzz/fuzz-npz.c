/* SPDX-License-Identifier: Apache-2.0
   Any bytes as an .npz file: refused in one line, or arrays all of which can be read. */
#include "t/fuzz/fuzz.h"

#include "lib/base/status.h"
#include "lib/store/npz.h"

#include <string.h>

/* Keeps the reads from being optimised away. */
static volatile double sink;

FUZZ_TARGET(npz)
{
	hu_npz z;

	if (hu_npz_parse(&z, "fuzz", data, size) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		return 0;
	}
	for (size_t k = 0; k < z.n; k++)
		for (size_t i = 0; i < z.array[k].count; i++)
			sink += hu_npy_real(&z.array[k], i);
	hu_npz_release(&z);
	return 1;
}
