/* SPDX-License-Identifier: Apache-2.0
   Exact sums and inner products of doubles: every bit of the result, whatever the order of the terms. */
#ifndef HALFULP_EXACT_H
#define HALFULP_EXACT_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* An exact number, an infinity or NaN. */
typedef struct halfulp_exact halfulp_exact;

/* The sum of a[k] b[k] over n terms, and the sum of n numbers. Infinities and NaN give what IEEE 754 gives (infinity
   times 0: NaN); no term gives 0. One result in 64 that the fast engine gives is computed again by MPFR, and
   HALFULP_EBUG says that they differ. */
halfulp_status halfulp_exact_dot(halfulp_exact **value, const double *a, const double *b, size_t n);
halfulp_status halfulp_exact_sum(halfulp_exact **value, const double *x, size_t n);
void halfulp_exact_free(halfulp_exact *value);

/* y is the value rounded once. The two stochastic modes are refused. A zero is +0. */
halfulp_status halfulp_exact_round(
	double *y, const halfulp_exact *value, const halfulp_format *format, halfulp_mode mode, int flags);
/* error is |value - x|, rounded once to the nearest double: the exact error of a result x. Equal infinities and two NaN
   have error 0; any other pair with an infinity or NaN has +infinity. */
halfulp_status halfulp_exact_error(double *error, const halfulp_exact *value, double x);
/* order is -1, 0 or 1: the value is below x, equal, or above. HALFULP_EINVAL where one of them is NaN. */
halfulp_status halfulp_exact_compare(int *order, const halfulp_exact *value, double x);
/* Writes the value with all its bits as a hexadecimal number, such as "0x1.8p+3", "-inf" or "nan", of which text gets
   as much as its size bytes hold, with a NUL at the end. length, which may be NULL, gets the whole text's length, so
   that a first call with size 0 (and text NULL) asks for it. */
halfulp_status halfulp_exact_text(char *text, size_t size, size_t *length, const halfulp_exact *value);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
