/* SPDX-License-Identifier: Apache-2.0
   Operands of the matrix units as lib/sum/tc/tc.h splits them, which the shim's answers look up: a tile's threads read
   each operand many times. */
#ifndef HU_CUDA_SHIM_TERMS_H
#define HU_CUDA_SHIM_TERMS_H

#include "cuda/gemm/mma.h"

namespace shim {

/* An operand as hu_tc_split gives it: m * 2^(e - p + 1). */
struct term { int32_t m, e; };

/* Returns the terms of all codes of f, a format of at most 16 bits, split in the format inner, which is f's own or that
   of hu_tc_inner. They are made at the first call and kept. */
const term *terms_of(hu_format f, hu_format inner);

/* Returns the term of the 32 bits of a float that a unit reads as tf32. */
static inline term
term_of_tf32(uint32_t bits, hu_format inner)
{
	term t;

	hu_tc_split((double)hu_from_bits32(hu_tc_tf32(bits)), inner, &t.m, &t.e);
	return t;
}

} /* namespace shim */
#endif
