/* SPDX-License-Identifier: Apache-2.0
   Evaluates sum(…) by a summation model instead of from the left. An argument a*b is then a product that enters as
   the model takes products; any other argument is a term times 1. */
#ifndef HU_ANALYZERS_EVALUATE_SUM_H
#define HU_ANALYZERS_EVALUATE_SUM_H

#include "analyzers/expression/expr.h"
#include "lib/sum/sum.h"

/* Parses `text`, as described in lib/sum/sum.h, into the model for sums whose result is in f. Without acc= the
   accumulator is f; without in= a tensor core's operands are fp16. The model rounds by mode unless `text` says mode=,
   and its stochastic rounding uses the random bits of flags unless `text` says bits=. HU_EINVAL as for hu_sum_parse and
   hu_sum_resolve, or where the model cannot round by mode. */
hu_status hu_expr_sum_model(const char *text, hu_format f, hu_mode mode, int flags, hu_sum *s);

/* Returns the format that factors of products are rounded to; it is also that of the first argument of a tensor core's
   sum where this is no product, which the sum starts with. */
hu_format hu_expr_factor_format(const hu_sum *s, hu_format f);

/* Returns the sum of x[k] y[k], k < n, from start by a's model. e is the call of sum whose arguments these are. The
   factors are values of hu_expr_factor_format; start is the first argument of a tensor core's sum where that is no
   product, else 0. The result is rounded to a's format, to nearest unless a's mode is another one that draws no random
   bits. Adds to a's notes and shows the operation to a's watcher (a->seen). */
double hu_expr_model_sum(hu_arithmetic *a, const hu_expr *e, const double *x, const double *y, size_t n, double start);
#endif
