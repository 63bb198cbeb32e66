/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/exec/transfer.h"

#include "cuda/element/code.h"
#include "lib/number/bulk/bulk.h"

#include <string.h>

size_t
hu_slot_size(hu_format_id id)
{
	hu_format f = hu_format_of(id);

	return id == HU_FP64 ? 8 : !hu_code_serves(f) || f.bits > 16 ? 4 : f.bits > 8 ? 2 : 1;
}

void
hu_transfer_pack(void *to, const void *from, size_t n, hu_format_id f)
{
	if (hu_slot_size(f) >= 4)
		memcpy(to, from, n * hu_slot_size(f));
	else
		hu_bulk_pack(to, from, n, f);
}

void
hu_transfer_unpack(void *to, const void *from, size_t n, hu_format_id f)
{
	if (hu_slot_size(f) >= 4)
		memcpy(to, from, n * hu_slot_size(f));
	else
		hu_bulk_unpack(to, from, n, f);
}
