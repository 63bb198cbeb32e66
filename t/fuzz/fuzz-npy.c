/* SPDX-License-Identifier: Apache-2.0
   Any bytes as an .npy file: refused in one line, or an array all of which can be read. */
#include "t/fuzz/fuzz.h"

#include "lib/base/status.h"
#include "lib/store/npy.h"

#include <string.h>

/* Keeps the reads from being optimised away. */
static volatile double sink;

FUZZ_TARGET(npy)
{
	hu_npy a;

	if (hu_npy_parse(&a, "fuzz", data, size) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		return 0;
	}
	HU_ASSERT(a.count * a.width <= size);
	for (size_t i = 0; i < a.count; i++)
		sink += hu_npy_real(&a, i);
	hu_npy_release(&a);
	return 1;
}
