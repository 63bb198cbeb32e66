/* SPDX-License-Identifier: Apache-2.0
   Student's t distribution and that of sums of squares, for limits. */
#ifndef HU_ANALYZERS_STUDENT_H
#define HU_ANALYZERS_STUDENT_H

/* Returns the t with P(T <= t) = 1 - tail, 0 < tail < 0.5, of n >= 1 degrees of freedom, by the finite sums of
   Abramowitz and Stegun 26.7.3 and 26.7.4, found by bisection to 2^-40 of itself. */
double hu_student_limit(double tail, int n);

/* Returns the x with P(X <= x) = tail, 0 < tail < 1, of chi square with n >= 1 degrees of freedom, by the finite
   sums of Abramowitz and Stegun 26.4.4 and 26.4.5, by bisection to 2^-40 of itself. A standard deviation s of n
   normal values is below s·sqrt((n - 1)/x) with probability 1 - TAIL, x of n - 1 degrees of freedom. */
double hu_chi_square_limit(double tail, int n);
#endif
