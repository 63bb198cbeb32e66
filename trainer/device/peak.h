/* SPDX-License-Identifier: Apache-2.0
   The measured ceilings of a device: what its units do when nothing but registers feeds them, and
   what a copy of its memory reaches. */
#ifndef HU_TRAINER_PEAK_H
#define HU_TRAINER_PEAK_H

#include "lib/base/status.h"
#include "lib/number/format.h"

/* FLOP/s (a multiply-add being two) of products with operands `in` and accumulators `out`: matrix: mma.sync of these,
   else fp32 fused multiply-adds. backend: cuda or shim. The best of a few trials of some 10 milliseconds. Instructions
   that reach beyond mma.sync (wgmma) can do more. HU_EUNABLE: no such instruction, or none whose result was right. */
hu_status hu_peak_flops(const char *backend, hu_format_id in, hu_format_id out, int matrix, double *flops);

/* Bytes read and written a second by copies of bytes, the best of a few. */
hu_status hu_peak_copy(const char *backend, size_t bytes, double *bytes_s);
#endif
