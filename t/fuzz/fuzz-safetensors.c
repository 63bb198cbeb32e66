/* SPDX-License-Identifier: Apache-2.0
   Any bytes as a safetensors file: refused in one line, or every tensor of it is
   wholly inside them, found by its name, and readable. */
#include "t/fuzz/fuzz.h"

#include "lib/base/status.h"
#include "lib/store/safetensors.h"

#include <string.h>

/* Keeps the reads from being optimised away. */
static volatile unsigned char sink;

FUZZ_TARGET(safetensors)
{
	hu_safetensors s;

	if (hu_safetensors_parse(&s, "fuzz", data, size) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		return 0;
	}
	for (size_t i = 0; i < s.n; i++) {
		const hu_stensor *t = &s.tensor[i];
		HU_ASSERT(hu_safetensors_find(&s, t->name) == t);
		HU_ASSERT(t->offset + t->bytes <= size && !memcmp(t->data, data + t->offset, t->bytes));
		for (size_t k = 0; k < t->bytes; k++)
			sink ^= ((const unsigned char *)t->data)[k];
	}
	hu_safetensors_metadata(&s, "format");
	hu_safetensors_release(&s);
	return 1;
}
