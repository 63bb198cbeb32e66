/* SPDX-License-Identifier: Apache-2.0
   What norms of a contraction's rows are added up from. A convolution's rows take a pixel's channels whole, and many
   rows take the same ones: each such run is surveyed once. */
#ifndef HU_OP_CONTRACT_RUNS_H
#define HU_OP_CONTRACT_RUNS_H

#include "lib/op/contract/contract.h"

/* Returns the bits of the largest magnitude of N elements; their squares are added to *SQUARES. Squares that
   underflow lose less than 2^-1022 each, which is added: a sum that counts them cannot be too small. */
uint64_t hu_survey(const double *x, size_t n, double *squares);

/* Elements i RUN .. (i + 1) RUN - 1 of A: sums of squares of values and of errors, the largest magnitude's bits. RUN 0:
   the rows take no such runs. */
typedef struct hu_runs { size_t run; double *h, *e; uint64_t *top; } hu_runs;

/* Of X's A, which is fp64, off by ERR (NULL: 0). Given back by hu_runs_release. */
void hu_runs_survey(hu_runs *r, const hu_contract *x, const double *err);
void hu_runs_release(hu_runs *r);
#endif
