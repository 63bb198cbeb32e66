/* SPDX-License-Identifier: Apache-2.0
   What one all-reduce over N ranks does to recorded gradients: the mean that every rank receives, beside the exact
   one. */
#ifndef HU_ANALYZERS_REDUCE_H
#define HU_ANALYZERS_REDUCE_H

#include "analyzers/allreduce/records.h"
#include "lib/sum/sum.h"

/* A rank multiplies its gradient by 2^scale and divides it by `before`, rounded to fp32 together, and casts to the
   wire's format, to nearest. The collective `sum` adds the ranks' values. What it returns is divided by `after` and
   2^scale, rounded to fp32 together. before * after is the number of ranks, sum.n.

   This is done steps times, each time with other gradients (records.h). With feedback a rank keeps what the cast to the
   wire lost and adds it to its next gradient, rounded to fp32, before that is cast (Seide, Fu, Droppo, Li and Yu, 1-bit
   stochastic gradient descent, Interspeech 2014; Karimireddy, Rebjock, Stich and Jaggi, Error feedback fixes SignSGD,
   ICML 2019); after a cast that leaves the wire's range it keeps nothing. */
typedef struct hu_reduce { hu_sum sum; double before, after; int scale, steps, feedback; } hu_reduce;

typedef struct hu_reduced {
	size_t underflowed; /* contributions that were not 0 and became 0 on their way to the wire */
	size_t nonzeros;    /* contributions that were not 0 */
	size_t overflowed;  /* elements whose result is not finite, be it that the exact mean is or that it is not */
	size_t loud_ranks;  /* ranks that sent something infinite or NaN: they alone would skip the step if each rank
			       looked for overflow before the all-reduce */
	size_t nonfinite;   /* ranks whose own gradients have something infinite or NaN, sampled or not */
	uint64_t additions, swamped;
	size_t stagnated;   /* elements whose ring ended in HU_STAGNANT_RUN swamped ranks or more */
	double rel_l2;      /* |result - exact|2 / |exact|2 over elements finite in both, of the sums over all
			       steps; NaN where it is 0/0 */
	double bound;       /* bound of the same; infinite where overflow cannot be excluded */
} hu_reduced;

/* Fills *out; counts are of all steps together. In a ring, element number i of all n starts at rank floor(i N / n), as
   its chunk does. The exact mean is within 2^-52 of itself plus N^2 2^-104 of the terms' magnitudes (Sum2 of Ogita,
   Rump and Oishi 2005). HU_ENOMEM where N numbers a thread do not fit. */
hu_status hu_reduce_run(hu_reduced *out, const hu_reduce *how, const hu_records *r);
#endif
