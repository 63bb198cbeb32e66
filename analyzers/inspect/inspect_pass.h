/* SPDX-License-Identifier: Apache-2.0
   One pass over an array for any number of formats. */
#ifndef HU_ANALYZERS_INSPECT_PASS_H
#define HU_ANALYZERS_INSPECT_PASS_H

#include "analyzers/inspect/inspect_cast.h"
#include "analyzers/op/foreign.h"

/* Casts a to each of the n formats to[], to nearest even and without scaling except a block format's own, and fills
   e[0..n). Blocks run along the last axis, or along the axis that the array names, and end with it, so the last block
   of a row may be short; a block size of 0 takes the whole tensor, and so does the tensor scale of nvfp4, for which the
   array is read twice. Arrays enter block formats in fp32. The bits depend neither on the number of threads nor on the
   instruction set; sums are in double over 2048 elements and in long double over those. Takes memory for a few million
   elements, however large the array is, and gives back the pages of a mapped file that it has read; a row of more than
   a million elements and a block size that no million holds take as much memory as that row. Where `best` is not 0, the
   scales that err least are sought too (hu_inspect_best), which reads the array a few times more. */
void hu_inspect_pass(hu_cast_effect *e, const hu_array *a, const hu_target *to, int n, int best);
#endif
