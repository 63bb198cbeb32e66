/* SPDX-License-Identifier: Apache-2.0
   Counts the roundings that a term meets on its way into a sum, for the probabilistic error bound of Higham and
   Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019.

   The model: rounding errors are independent random variables of mean zero. A term that meets roundings with
   |δ_i| <= u_i is multiplied by Π(1+δ_i). The mean of log(1+δ_i) is within u_i^2/(1-u_i) of 0, and its range is
   at most 2 u_i/(1-u_i). By Hoeffding's inequality |Σ log(1+δ_i)| <= λ sqrt(Σ u_i^2) + Σ u_i^2/(1-u_i) with
   probability 1 - 2 exp(-λ^2 (1-u)^2 / 2) or more, where u is the largest u_i. With n equal u_i the factor is off by
   at most γ = exp(λ sqrt(n) u + n u^2/(1-u)) - 1 (theorem 2.4). A sum in any order is off by at most γ Σ|terms| if
   all its terms' factors keep that bound (theorem 3.1): for an inner product of n terms this has probability
   1 - 2 n exp(-λ^2 (1-u)^2 / 2) or more. Several sums' results share the probability in the same way. Under
   stochastic rounding the mean is zero without assumption, and it suffices that errors are independent in the mean
   (Connolly, Higham and Mary 2021); k random bits move that mean by 2^-k of a rounding. */
#ifndef HU_SUM_ROUNDINGS_H
#define HU_SUM_ROUNDINGS_H

#include "lib/sum/sum.h"

/* The roundings of one result. */
typedef struct hu_roundings {
	const char *none;            /* why there is no such bound, as the end of a sentence; NULL: there is one */
	double terms;                /* number of terms */
	double count;                /* the most roundings that a term meets */
	double squares, drift, most; /* over these: Σ u_i^2; a bound of the sum of the means; the largest u_i */
	double certain;              /* relative error of a part that has a proven bound instead */
	double absolute;             /* proven bound of what subnormal products lose */
	double last, least;          /* the rounding to the output: relative to the result, and absolute; proven */
} hu_roundings;

/* The roundings of k products added by the resolved model s, in parts of `part` terms (0: one part) that parts.h
   combines. There is no bound (`none`) for sums whose errors have a sign of their own (directed modes; tensor cores,
   which chop) or hardly grow with k (compensated sums). */
hu_roundings hu_roundings_of_sum(hu_sum s, size_t k, size_t part);

/* Adds n roundings to format f for every term, with `bits` random bits under SR (0: 32). A directed mode leaves no
   bound. */
void hu_roundings_add(hu_roundings *r, hu_format f, hu_mode mode, int bits, double n);

/* What several summation models' rows have as their roundings of one part of n terms (lib/sum/model/row.h): slices that
   are added in order, all-reduces, compensated sums. */
void hu_roundings_sliced(hu_roundings *r, hu_sum s, double n);
void hu_roundings_ranks(hu_roundings *r, hu_sum s, double n);
void hu_roundings_compensated(hu_roundings *r, hu_sum s, double n);
/* Units that flush subnormal numbers (flush.h). */
void hu_roundings_flushed(hu_roundings *r, hu_sum s, double n);

/* Returns the λ with which `results` such sums keep their bounds all together with probability `confidence` (0 to
   1). */
double hu_roundings_lambda(const hu_roundings *r, double confidence, double results);
/* Returns γ for that λ. */
double hu_roundings_gamma(const hu_roundings *r, double lambda);
/* Returns the error bound of one result, given mag >= Σ|terms| and value >= |exact result|. NaN: there is none. */
double hu_roundings_bound(const hu_roundings *r, double lambda, double mag, double value);
#endif
