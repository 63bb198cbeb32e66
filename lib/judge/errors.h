/* SPDX-License-Identifier: Apache-2.0
   Errors of one output tensor in the words of the tables: of the call itself, and
   of the whole step up to it. */
#ifndef HU_ANALYZERS_ERRORS_H
#define HU_ANALYZERS_ERRORS_H

#include "lib/judge/judge.h"

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

/* What the exact step's double-double tells of a value: digits; nothing at all, not even that it is finite; or else an
   exponent: the bound is below 2 to it, and the value may be 0. HU_STEP_ZERO is added to the exponent of one that is
   taken for 0, being small beside what was recorded. */
enum { HU_STEP_DIGITS = -32768, HU_STEP_UNKNOWN = 32767, HU_STEP_ZERO = 8192 };
static inline int hu_step_is_zero(short mark) { return mark > HU_STEP_ZERO / 2 && mark != HU_STEP_UNKNOWN; }

/* The exact step's values. With ERR: element i is within err[i] of hi[i] + lo[i], hi = RN(hi + lo); where a part is not
   finite nothing is said of it; MARK, if not NULL, is set. Without: MPFR's, for exact, infinities and NaN too; MARK is
   what double-double told, NULL: digits of all. One that MPFR's roundings may be all of, given double-double's bound,
   is taken for 0 and so marked, any other is not. So is a tiny one that double-double said nothing of, where BEFORE,
   the double of another precision, has no digit in common; BEFORE may be NULL. */
typedef struct hu_step_values { const double *hi, *lo, *err, *before; short *mark; } hu_step_values;

/* Of all elements of GOT against the exact step's values. rel_normwise: |got - ideal|2 / |ideal|2 over what is
   finite in both; infinite where that is 0 of the ideal or nothing. known: 0 where there is no such tensor. The off_…
   are by how much each may be off, given what the ideal values may be off by; settled: none is off by more than
   HU_STEP_SETTLED of it. vanished: values taken for 0, whose ulp is the smallest subnormal then. unknown: values of
   which nothing is said; nonfinite: of MPFR's, infinities and NaN; doubtful: MPFR's that another precision must
   confirm. */
typedef struct hu_errors_step {
	double ulp_max, ulp_mean, rel_normwise, off_max, off_mean, off_rel;
	size_t vanished, unknown, doubtful, nonfinite;
	int known, settled;
} hu_errors_step;

#define HU_STEP_SETTLED 0x1p-10

/* Ulps are those of the ideal value. The same bits for any number of threads. */
void hu_errors_propagated(hu_errors_step *m, const hu_tensor *got, const hu_step_values *v);
/* Values marked as nothing become 0: what is left in them are the exact step's own roundings. MARK may be NULL. */
void hu_errors_zeros(const hu_tensor *got, double *hi, const short *mark);
#endif
