/* SPDX-License-Identifier: Apache-2.0
   The sums of the first 1, 2, … n terms: a scan by a summation model. Prefix k has the bits of the model's sum of k
   terms. So a chain is a scan in sequence, chunk:N one by blocks, whose elements add a carry of the blocks before them
   to what their own block has so far, and pairwise is Sklansky's parallel scan. */
#ifndef HU_SUM_PREFIXES_H
#define HU_SUM_PREFIXES_H

#include "lib/sum/sum.h"

/* y[k] becomes the sum of x[0] … x[k] by the resolved model s, which draws no random bits; one[k] is 1. y may not be
   x. Models with a row's `prefixes` take about n additions, others n^2 / 2. */
void hu_sum_prefixes(double *y, const double *x, const double *one, size_t n, hu_sum s);

/* What rows have as their prefixes (lib/sum/model/row.h): one fused multiply-add, or one rounding of the term and one
   addition, after another; blocks of s.n terms by fma; halves. */
void hu_prefixes_fused(double *y, const double *x, const double *one, size_t n, hu_sum s);
void hu_prefixes_rounded(double *y, const double *x, const double *one, size_t n, hu_sum s);
void hu_prefixes_blocks(double *y, const double *x, const double *one, size_t n, hu_sum s);
void hu_prefixes_halves(double *y, const double *x, const double *one, size_t n, hu_sum s);

/* 1 where each of these sums is the one before it and one addition more: a model that keeps something beside its
   accumulator is no such chain. */
int hu_prefixes_chain(hu_sum s);
#endif
