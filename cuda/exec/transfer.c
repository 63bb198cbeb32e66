/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/exec/transfer.h"

#include "cuda/element/code.h"
#include "lib/number/bulk/bulk.h"

#include <omp.h>
#include <string.h>

/* Bytes from which a second thread pays, and of which each has multiples: waking a team takes about 50 microseconds, in
   which one thread copies half a megabyte. */
enum { THREADS_FROM = 1 << 21, STRETCH = 1 << 16 };

/* memcpy on all threads: one alone does not reach the memory's bandwidth, and a batch of images has hundreds of
   megabytes. */
static void
copy(void *to, const void *from, size_t bytes)
{
	size_t stretches = bytes < THREADS_FROM || omp_in_parallel() ? 1 : (bytes + STRETCH - 1) / STRETCH;

	if (stretches == 1) {
		memcpy(to, from, bytes);
		return;
	}
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < stretches; i++)
		memcpy((char *)to + i * STRETCH, (const char *)from + i * STRETCH,
			i + 1 < stretches ? (size_t)STRETCH : bytes - i * STRETCH);
}

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
		copy(to, from, n * hu_slot_size(f));
	else
		hu_bulk_pack(to, from, n, f);
}

void
hu_transfer_unpack(void *to, const void *from, size_t n, hu_format_id f)
{
	if (hu_slot_size(f) >= 4)
		copy(to, from, n * hu_slot_size(f));
	else
		hu_bulk_unpack(to, from, n, f);
}
