/* SPDX-License-Identifier: Apache-2.0
   Reductions that add by a summation model in place of the fixed tree: calls whose attribute `summed` is 1. Their terms
   are computed in the compute format as ever; the call's model adds them from +0, and the sum is rounded to the compute
   format, where this does not hold it. Sums that begin over the same terms in another number of threads have the same
   bits. */
#ifndef HU_OP_SUMMED_H
#define HU_OP_SUMMED_H

#include "lib/op/reduce/reduce.h"

/* The call's model; NULL: the fixed tree adds. */
const hu_sum *hu_summed_by(const hu_call *c);
/* The model that says how the call adds: a product's, an all-reduce's, or that of a reduction that was told one. NULL
   where none does. */
const hu_sum *hu_summed_or_product(const hu_call *c);
/* Returns 1 if the operator is a reduction whose sums can be told a model. */
int hu_summed_takes(const hu_op *op);
/* Sets the model of a call's sums. HU_EINVAL where the operator adds nothing, or where no reduction adds by this model:
   tensor cores multiply, and stochastic rounding has no stream here. */
hu_status hu_summed_set(hu_call *c, hu_sum sum);

/* What hu_sum_columns, hu_sum_images (columns of the rows first … first+rows-1, to sum[k][at + j]) and hu_sum_rows
   compute, by the call's model. */
void hu_summed_columns(const hu_map *m, size_t first, size_t rows, size_t at, hu_stat *sum, int nout);
void hu_summed_rows(const hu_map *m, hu_stat *sum, int nout);

/* y[k] becomes the sum of x[0] … x[k] by the model s, rounded to f. */
void hu_summed_prefixes(double *y, const double *x, size_t n, hu_sum s, hu_format f);

/* Bounds the distance of the model's sum, rounded to f, of n bounded terms from their exact sum; all is the sum of the
   terms' magnitudes, and e is the sum of their errors. +Inf where a partial sum may overflow. */
double hu_summed_error(hu_sum s, hu_format f, double all, double e, size_t n);
/* The roundings of such a sum, and of its rounding to f. */
hu_roundings hu_summed_roundings(hu_sum s, hu_format f, size_t n);
/* Counts the additions of one sum of x[n]. */
void hu_summed_swamping(hu_sum s, const double *x, size_t n, hu_swamp *count);
#endif
