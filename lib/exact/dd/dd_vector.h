/* SPDX-License-Identifier: Apache-2.0
   Loops over arrays of double-doubles: every value has the bits that the functions of dd.h give one by one, with
   registers for eight values (ddw.h) or without. */
#ifndef HU_EXACT_DD_VECTOR_H
#define HU_EXACT_DD_VECTOR_H

#include "lib/exact/dd/dd.h"

#include <stddef.h>

/* y[j] is the sum over ascending d < n of x[d] m[d * stride + j], from 0 on, for j < count. */
void hu_dd_vector_dots(hu_dd *y, const hu_dd *x, const hu_dd *m, size_t n, size_t stride, size_t count);
/* Adds s x[i] to each y[i]. */
void hu_dd_vector_add(hu_dd *y, hu_dd s, const hu_dd *x, size_t n);
/* Adds x[i] to each y[i]. */
void hu_dd_vector_plus(hu_dd *y, const hu_dd *x, size_t n);
/* Adds x[r * stride + i] for ascending i < n to sum[r], for r < rows. */
void hu_dd_vector_rows(hu_dd *sum, const hu_dd *x, size_t rows, size_t stride, size_t n);
/* Replaces each t[i] by the exponential of t[i] - less. */
void hu_dd_vector_exp(hu_dd *t, hu_dd less, size_t n);
#endif
