/* SPDX-License-Identifier: Apache-2.0
   Exponent histograms of recorded tensors: integer bins floor(log2|x|), a bin for
   zero and one for what is not finite. */
#ifndef HU_ANALYZERS_EXPONENTS_H
#define HU_ANALYZERS_EXPONENTS_H

#include "lib/program/bins.h"

/* A row a tensor of t that was recorded and a bin that is not empty. */
void hu_exponents_add(hu_tsv *out, const hu_program *p, size_t step, const hu_tensor *t);
#endif
