/* SPDX-License-Identifier: Apache-2.0
   Divides a number below 2^31 by one that is known when a kernel is launched, by a multiplication and two shifts
   instead of the twenty instructions that a device without a divider takes (Granlund and Montgomery 1994). With 2^(l-1)
   < by <= 2^l and factor = ceil(2^(31+l) / by), which has 32 bits, n factor / 2^(31+l) exceeds n / by by less than n /
   2^(31+l) < 2^-l <= 1 / by, too little to reach the next whole number. */
#ifndef HU_CUDA_DIVIDE_H
#define HU_CUDA_DIVIDE_H

#include "lib/base/hd.h"

#include <stdint.h>

typedef struct hu_divisor { uint32_t by, factor, shift; } hu_divisor;

/* A divisor 0 < by < 2^31. 0, which empty extents give, becomes 1. */
HU_HD hu_divisor
hu_divisor_of(uint32_t by)
{
	hu_divisor d = { by ? by : 1, 0, 0 };

	while (d.shift < 31 && 1u << d.shift < d.by)
		d.shift++;
	d.factor = (uint32_t)((((uint64_t)1 << (31 + d.shift)) + d.by - 1) / d.by);
	return d;
}

/* n / by, rounded down, for n < 2^31; for larger n the result is meaningless. */
HU_HD uint32_t
hu_quotient(uint32_t n, hu_divisor d)
{
	return (uint32_t)((uint64_t)(n << 1) * d.factor >> 32) >> d.shift;
}
#endif
