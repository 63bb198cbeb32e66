/* SPDX-License-Identifier: Apache-2.0
   Exponent histograms of recorded tensors: bins are the integers floor(log2|x|), one for zero and one for values that
   are not finite. */
#ifndef HU_ANALYZERS_EXPONENTS_H
#define HU_ANALYZERS_EXPONENTS_H

#include "lib/base/parts/pack.h"
#include "lib/number/count.h"
#include "lib/op/region.h"
#include "lib/program/bins.h"

/* Sets the HU_BINS counts to those of some elements of t, or to 0 where t was not recorded. */
void hu_exponents_count(uint64_t *count, const hu_tensor *t, hu_region some);
/* Passes the bins that are not empty through a pack; what is read is put into counts that are 0. */
void hu_exponents_pack(hu_pack *r, uint64_t *count);
#endif
