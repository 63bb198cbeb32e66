/* SPDX-License-Identifier: Apache-2.0
   Student's t distribution and that of sums of squares, for limits. */
#ifndef HU_ANALYZERS_STUDENT_H
#define HU_ANALYZERS_STUDENT_H

/* P(T <= t) of N >= 1 degrees of freedom: the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4. */
double hu_student_cdf(double t, int n);
/* The t with P(T <= t) = 1 - TAIL, 0 < TAIL < 0.5, by bisection to 2^-40 of itself. */
double hu_student_limit(double tail, int n);

/* The x with P(X <= x) = TAIL, 0 < TAIL < 1, of chi square with N >= 1 degrees of freedom: the finite sums of
   Abramowitz and Stegun 26.4.4 and 26.4.5, by bisection to 2^-40 of itself. A standard deviation s of n normal values
   is below s·sqrt((n - 1)/x) with probability 1 - TAIL, x of n - 1 degrees of freedom. */
double hu_chi_square_limit(double tail, int n);
#endif
