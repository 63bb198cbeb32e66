/* SPDX-License-Identifier: Apache-2.0
   The parts from which norms of a contraction's rows are added up. A convolution's rows contain all channels of a
   pixel, and many rows contain the same pixels; each such run of elements is surveyed once. */
#ifndef HU_OP_CONTRACT_RUNS_H
#define HU_OP_CONTRACT_RUNS_H

#include "lib/op/contract/contract.h"

/* Returns the bits of the largest magnitude among n elements and adds their squares to *squares. A square that
   underflows loses less than 2^-1022, which is added, so that the sum is never too small. */
uint64_t hu_runs_largest(const double *x, size_t n, double *squares);

/* The sum of squares of values (h) and of errors (e) and the bits of the largest magnitude (top) of each run, elements
   i run .. (i + 1) run - 1 of A. run is 0 if the rows contain no such runs. */
typedef struct hu_runs { size_t run; double *h, *e; uint64_t *top; } hu_runs;

/* Surveys A of x, which is fp64 and off by at most err (NULL: 0). Released by hu_runs_release. */
void hu_runs_survey(hu_runs *r, const hu_contract *x, const double *err);
void hu_runs_release(hu_runs *r);
#endif
