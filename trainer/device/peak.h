/* SPDX-License-Identifier: Apache-2.0
   Measures the upper limits of a device: the rate of its arithmetic units when registers alone feed them, and the
   bandwidth that a copy of its memory reaches. */
#ifndef HU_TRAINER_PEAK_H
#define HU_TRAINER_PEAK_H

#include "lib/base/status.h"
#include "lib/number/format.h"

/* Sets *flops to the FLOP/s (a multiply-add counts as two) of the units of backend, cuda or shim: where matrix is 1, of
   the matrix instructions with operands in format `in` and accumulators in format `out`, mma.sync or, on Hopper, wgmma
   where that is faster; otherwise of fp32 fused multiply-adds. It is the best of a few trials of some 10 milliseconds.
   HU_EUNABLE where there is no such instruction or its results were wrong. */
hu_status hu_peak_flops(const char *backend, hu_format_id in, hu_format_id out, int matrix, double *flops);

/* Sets *bytes_s to the bytes read and written per second by copies of `bytes` bytes, the best of a few. */
hu_status hu_peak_copy(const char *backend, size_t bytes, double *bytes_s);
#endif
