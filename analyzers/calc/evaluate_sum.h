/* SPDX-License-Identifier: Apache-2.0
   sum(…) by a summation model instead of from the left: a*b among its arguments is a product that
   enters as the model takes products, any other argument is a term times 1. */
#ifndef HU_ANALYZERS_EVALUATE_SUM_H
#define HU_ANALYZERS_EVALUATE_SUM_H

#include "analyzers/calc/expr.h"
#include "lib/sum/sum.h"

/* The model for sums whose result is in f: `text` as in sum.h, acc= being f where nothing is said; a tensor
   core's operands are fp16 where nothing is said. HU_EINVAL as hu_sum_parse and hu_sum_resolve, or where
   f's sums cannot be rounded by mode, which is the model's own unless `text` says mode=; under SR its random bits are
   those of flags unless `text` says bits=. */
hu_status hu_expr_sum_model(const char *text, hu_format f, hu_mode mode, int flags, hu_sum *s);

/* The format that the factors of products are rounded to, and the one of a tensor core's first argument, where it is no
   product: what the sum starts with. */
hu_format hu_expr_factor_format(const hu_sum *s, hu_format f);

/* The sum of x[k] y[k], k < n, from start by a's model, for e, a call of sum, whose arguments these are. The factors
   are values of hu_expr_factor_format; start is the first argument of a tensor core's sum where that is no product,
   else 0. The result is rounded to a's format, to nearest unless a's mode draws no bits and says otherwise. Sets a's
   notes and shows the operation to a's watcher. */
double hu_expr_model_sum(hu_arithmetic *a, const hu_expr *e, const double *x, const double *y, size_t n, double start);
#endif
