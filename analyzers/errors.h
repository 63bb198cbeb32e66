/* SPDX-License-Identifier: Apache-2.0
   Errors of one output tensor in the words of the tables: of the call itself, and
   of the whole step up to it. */
#ifndef HU_ANALYZERS_ERRORS_H
#define HU_ANALYZERS_ERRORS_H

#include "analyzers/judge.h"

/* Of the judged elements. ci95: half width of the mean's 95 % interval under sampling. normwise:
   |error|2 / |magnitude|2; componentwise: the largest |error| / magnitude; condition_max: the
   largest magnitude / |exact|; ratio_max: the largest |error| / bound; worst: the first element of ulp_max. */
typedef struct hu_errors {
	double ulp_max, ulp_mean, ulp_p99, ci95, rel_max, normwise, componentwise, condition_max, ratio_max;
	size_t over, worst;
} hu_errors;

/* A sum of nonnegative numbers in double-double, 2^-100 or so: the order it is made in does not show in a
   double. What leaves the range of that (beyond 2^±480) is a long double beside it. */
typedef struct hu_total { double h, l; long double far; } hu_total;

/* Gathers errors as they come: N judged of OF. Memory: a hundredth of N, for the 99th percentile. */
typedef struct hu_errors_sum {
	hu_errors m;
	size_t n, of;
	hu_total ulps, ulps2, error2, magnitude2;
	int infinite;              /* an error in ulps is */
	double *top, floor;        /* the largest errors in ulps; once there are KEEP, none below FLOOR */
	size_t keep, ntop, room;
} hu_errors_sum;

void hu_errors_begin(hu_errors_sum *s, size_t n, size_t of);
/* By several threads at once. */
void hu_errors_add(hu_errors_sum *s, const hu_judging *some);
void hu_errors_end(hu_errors *m, hu_errors_sum *s);
/* All at once. */
void hu_errors_local(hu_errors *m, const hu_judged *j);

/* Of all elements of GOT against the exact step's values. rel_normwise: |got - ideal|2 / |ideal|2 over what is
   finite in both. known: 0 where there is no such tensor. The off_… are by how much each may be off, given what the
   ideal values may be off by; settled: none is off by more than HU_STEP_SETTLED of it. vanished: values taken for 0, whose
   ulp is the smallest subnormal then: the bound leaves no digit of them, and is small beside what was recorded. */
typedef struct hu_errors_step { double ulp_max, ulp_mean, rel_normwise, off_max, off_mean, off_rel; size_t vanished; int known, settled; } hu_errors_step;

#define HU_STEP_SETTLED 0x1p-10

/* Element i of the ideal: within ERR[i] of HI[i] + LO[i], hi = RN(hi + lo); LO, ERR: NULL where 0. A HI that is not finite is
   the value. Ulps are those of the ideal value. The same bits for any number of threads. */
void hu_errors_propagated(hu_errors_step *m, const hu_tensor *got, const double *hi, const double *lo, const double *err);
/* Those of them that count as 0 (vanished) become 0: what is left in them are the exact step's own roundings. */
void hu_errors_zeros(const hu_tensor *got, double *hi, const double *err);
#endif
