/* SPDX-License-Identifier: Apache-2.0
   Statistics of the errors of one output tensor, as the tables report them: errors of the call itself, and of the whole
   step up to it. */
#ifndef HU_JUDGE_ERRORS_H
#define HU_JUDGE_ERRORS_H

#include "lib/judge/judge.h"

/* Errors of the judged elements. ci95 is the half width of the 95 % confidence interval of the mean under sampling.
   normwise is |error|2 / |magnitude|2 in 2-norms. componentwise is the largest |error| / magnitude, condition_max the
   largest magnitude / |exact|, ratio_max the largest |error| / bound. over counts errors above their bound. worst is
   the first element with error ulp_max. */
typedef struct hu_errors {
	double ulp_max, ulp_mean, ulp_p99, ci95, rel_max, normwise, componentwise, condition_max, ratio_max;
	size_t over, worst;
} hu_errors;

/* A sum of nonnegative numbers in double-double, with a relative error of about 2^-100, so that the order of summation
   does not change the nearest double. Terms outside its range (2^±480) are summed in a long double besides. */
typedef struct hu_total { double h, l; long double far; } hu_total;

/* Accumulates errors as they arrive: n judged elements of of. It keeps about a hundredth of n for the 99th
   percentile. */
typedef struct hu_errors_sum {
	hu_errors m;
	size_t n, of;
	hu_total ulps, ulps2, error2, magnitude2;
	int infinite;              /* an error in ulps is infinite */
	double *top, floor;        /* the keep largest errors in ulps; once there are so many, none is below floor */
	size_t keep, ntop, room;
} hu_errors_sum;

void hu_errors_begin(hu_errors_sum *s, size_t n, size_t of);
/* Adds judged values; several threads may call it at once. */
void hu_errors_add(hu_errors_sum *s, const hu_judging *some);
void hu_errors_end(hu_errors *m, hu_errors_sum *s);
/* Computes the statistics from all judged values at once. */
void hu_errors_local(hu_errors *m, const hu_judged *j);
/* The same up to hu_errors_end: begins s for all values of j and adds them. */
void hu_errors_collect(hu_errors_sum *s, const hu_judged *j);
/* Adds all values of j, which may be some of those that s was begun for. */
void hu_errors_add_judged(hu_errors_sum *s, const hu_judged *j);
/* Adds what another process or part of a tensor collected, both begun for the same n and of. */
void hu_errors_merge(hu_errors_sum *to, const hu_errors_sum *part);
/* Forgets all but the largest errors in ulps that hu_errors_end needs; hu_errors_cut puts these in descending order. */
void hu_errors_thin(hu_errors_sum *s);
void hu_errors_cut(hu_errors_sum *s);

/* What the double-double exact step says of a value. HU_STEP_DIGITS: it has correct digits. HU_STEP_UNKNOWN: nothing,
   not even that it is finite. Otherwise the mark is an exponent e: the error bound is below 2^e and the value may be 0;
   HU_STEP_ZERO is added to e if the value is taken for 0 because it is small beside what was recorded. */
enum { HU_STEP_DIGITS = -32768, HU_STEP_UNKNOWN = 32767, HU_STEP_ZERO = 8192 };
static inline int hu_step_is_zero(short mark) { return mark > HU_STEP_ZERO / 2 && mark != HU_STEP_UNKNOWN; }

/* The exact step's values. If err is given (double-double), element i is within err[i] of hi[i] + lo[i], with hi =
   RN(hi + lo); a part that is not finite says nothing, and mark, if not NULL, is set. If err is NULL the values are
   MPFR's and taken as exact, infinities and NaN included; mark then says what double-double had found, NULL that it had
   digits of every value. An MPFR value that may consist of rounding errors alone, judging by double-double's bound, is
   taken for 0 and marked so, any other is not. A tiny value of which double-double said nothing is also taken for 0 if
   before, the values at another precision, has no digit in common with it; before may be NULL. */
typedef struct hu_step_values { const double *hi, *lo, *err, *before; short *mark; } hu_step_values;

/* Compares all elements of got with the exact step's values. rel_normwise is |got - ideal|2 / |ideal|2 over the
   elements that are finite in both; infinite if the ideal ones are all 0 or there are none. known is 0 if there is no
   such tensor. off_max, off_mean and off_rel bound how far the figures may be off, given the errors of the ideal
   values; settled is 1 if none is off by more than HU_STEP_SETTLED of itself. vanished counts values taken for 0, whose
   ulp is the smallest subnormal. unknown counts values of which nothing is known, nonfinite MPFR values that are
   infinities or NaN, doubtful MPFR values that another precision must confirm. */
typedef struct hu_errors_step {
	double ulp_max, ulp_mean, rel_normwise, off_max, off_mean, off_rel;
	size_t vanished, unknown, doubtful, nonfinite;
	int known, settled;
} hu_errors_step;

#define HU_STEP_SETTLED 0x1p-10

/* An ulp is the ideal value's. The bits are the same for any number of threads. */
void hu_errors_propagated(hu_errors_step *m, const hu_tensor *got, const hu_step_values *v);
/* Sets values that are marked as 0 to 0: what they hold are the exact step's own rounding errors. mark may be NULL. */
void hu_errors_zeros(const hu_tensor *got, double *hi, const short *mark);
#endif
