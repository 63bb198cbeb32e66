/* SPDX-License-Identifier: Apache-2.0
   The power of a t test: how often it is red where the means do differ. */
#ifndef HU_ANALYZERS_POWER_H
#define HU_ANALYZERS_POWER_H

/* Returns P(T > t), t >= 0, where T has the noncentral t distribution with n >= 1 degrees of freedom and the shift
   D >= 0: the mean of the normal distribution's survival function over that of the estimated standard deviation, by
   Simpson's rule in 4000 steps; the error is below 1e-7. */
double hu_power(double t, int n, double d);
/* Returns the shift with which a one-sided test at ALPHA with n degrees of freedom is red with probability POWER,
   ALPHA < POWER < 1, by bisection to 2^-30 of itself. Times the standard error of a difference it is the difference
   that is detected. */
double hu_power_shift(double alpha, int n, double power);
#endif
