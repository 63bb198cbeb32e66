/* SPDX-License-Identifier: Apache-2.0
   The rules that several summation models' bounds are made of. u bounds the relative error of one rounding; nearest
   says that it is to the nearest with ties to even (RNE). What is relative is to the sum of the terms' magnitudes, and
   what is absolute in multiples of h (bound.h). */
#ifndef HU_SUM_BOUND_RULE_H
#define HU_SUM_BOUND_RULE_H

#include "lib/sum/bound.h"

/* A factor that outweighs the roundings of the few double operations behind a bound. */
#define HU_BOUND_UP (1 + 0x1p-40)

/* Returns (1 + u)^n - 1, also where 1 + u is no double. */
double hu_bound_growth(double u, double n);
/* Returns the relative error of a slice of `length` terms added by fma. */
double hu_bound_slice(double length, double u, int nearest);
/* The bound of n terms in slices by s's row, which are added in order in the same format. */
hu_sum_bound hu_bound_sliced(hu_sum s, double n, double u, double outer_u);
/* The bound of n terms that meet at most `roundings` roundings each. */
hu_sum_bound hu_bound_met(double n, double u, double roundings);
/* The bound of Kahan's sum of n terms that are no products; it has no absolute part. */
hu_sum_bound hu_bound_kahan(double u, double n);
/* The bound of a sum whose compensation is added last, as Neumaier's; with `product` each product's residue is
   compensated too, as in Dot2. */
hu_sum_bound hu_bound_compensated(double u, double n, int nearest, int product);
/* The bound of the all-reduce s over n terms, where outer_u bounds a rounding on the wire. */
hu_sum_bound hu_bound_ranks(hu_sum s, double n, double u, double outer_u);
/* The bound of n products in an fp32 accumulator that flushes (flush.h): a term meets at most `met` roundings of
   relative error u, and `results` of them may be flushed. It holds for operands that are not subnormal. */
hu_sum_bound hu_bound_flushed(double n, double u, double met, double results);
/* The same for any operands, of which those subnormal in s.in are lost (hu_sum_model's bound_of). */
hu_sum_bound hu_bound_flushed_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c);
/* bound_of for a model whose `bound` holds for all operands, subnormal ones too. */
hu_sum_bound hu_bound_plain_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c);
/* Bounds |computed - exact| for one part of n products, and raises *mag by no less than Σ|ab|; a part that starts at c
   finds |c| in it. */
typedef double hu_bound_part(hu_sum s, const double *a, const double *b, size_t n, double *mag);
/* bound_of for a model with such a bound, whose parts the fixed tree adds and to which c is added last, unless a sum
   starts at it. */
hu_sum_bound hu_bound_by_parts(
	hu_bound_part *one, hu_sum s, const double *a, const double *b, size_t n, size_t part, double c);
#endif
