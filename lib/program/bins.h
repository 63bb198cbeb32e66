/* SPDX-License-Identifier: Apache-2.0
   Rows of exponents.tsv: a tensor's elements by the integer bins of lib/number/count.h, as analyze writes them of
   traced steps and train --count of every step. */
#ifndef HU_PROGRAM_BINS_H
#define HU_PROGRAM_BINS_H

#include "lib/base/tsv.h"
#include "lib/program/program.h"

#define HU_EXPONENTS_COLUMNS "step tensor class layer format bin count"

/* A row a bin of BINS (HU_BINS of them) that is not empty. */
void hu_bins_rows(hu_tsv *out, size_t step, const hu_info *t, const uint64_t *bins);
#endif
