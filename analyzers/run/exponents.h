/* SPDX-License-Identifier: Apache-2.0
   Exponent histograms of recorded tensors: bins are the integers floor(log2|x|), one for zero and one for values that
   are not finite. */
#ifndef HU_ANALYZERS_EXPONENTS_H
#define HU_ANALYZERS_EXPONENTS_H

#include "lib/program/bins.h"

/* Appends a row for each bin of t that is not empty. */
void hu_exponents_add(hu_tsv *out, size_t step, const hu_info *info, const hu_tensor *t);
#endif
