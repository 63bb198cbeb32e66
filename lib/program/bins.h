/* SPDX-License-Identifier: Apache-2.0
   Rows of exponents.tsv: a tensor's elements counted by the exponent bins of lib/number/count.h. analyze writes them
   for traced steps, train --count for every step. */
#ifndef HU_PROGRAM_BINS_H
#define HU_PROGRAM_BINS_H

#include "lib/base/tsv.h"
#include "lib/program/program.h"

#define HU_EXPONENTS_COLUMNS "step tensor class layer format bin count"

/* Writes a row for each of the HU_BINS bins that is not empty. */
void hu_bins_rows(hu_tsv *out, size_t step, const hu_info *t, const uint64_t *bins);
#endif
