/* SPDX-License-Identifier: Apache-2.0
   The roundings that a term meets on its way into a sum, and the probabilistic bound that rests on them: Higham and
   Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019.

   The model: rounding errors are independent random variables of mean zero. A term that meets roundings with |δ_i| <=
   u_i is multiplied by Π(1+δ_i). Of log(1+δ_i) the mean is within u_i^2/(1-u_i) of 0 and the range at most 2
   u_i/(1-u_i), so by Hoeffding's inequality |Σ log(1+δ_i)| <= λ sqrt(Σ u_i^2) + Σ u_i^2/(1-u_i) with probability at
   least 1 - 2 exp(-λ^2 (1-u)^2 / 2), u the largest u_i. With n equal u_i the factor is off by at most γ = exp(λ sqrt(n)
   u + n u^2/(1-u)) - 1 (theorem 2.4), and a sum, whatever its order, by at most γ Σ|terms|, if all its terms' factors
   are (theorem 3.1): with probability at least 1 - 2 n exp(-λ^2 (1-u)^2 / 2) for an inner product of n terms. Results
   of several sums share the probability in the same way. Under stochastic rounding mean zero is no assumption, and that
   errors are independent in the mean suffices (Connolly, Higham and Mary 2021); k random bits move that mean by 2^-k of
   a rounding. */
#ifndef HU_SUM_ROUNDINGS_H
#define HU_SUM_ROUNDINGS_H

#include "lib/sum/sum.h"

typedef struct hu_roundings {
	const char *none;                /* why there is no such bound, as the end of a sentence; NULL: there is one */
	double terms;                    /* of one result */
	double count;                    /* roundings, the most that a term meets */
	double squares, drift, most;     /* of these: Σ u_i^2, what bounds the sum of the means, the largest u_i */
	double certain;                  /* relative error of a part that is bounded as proven, not as probable */
	double absolute;                 /* proven, of products that are subnormal */
	double last, least;              /* the rounding to the output: relative to the result, and absolute; proven */
} hu_roundings;

/* Of K products by the resolved model S, in parts of PART terms (0: one) combined as parts.h does. None of sums whose
   errors have a sign of their own (directed modes, tensor cores, which chop), or hardly grow with K (compensated ones).
 */
hu_roundings hu_roundings_of_sum(hu_sum s, size_t k, size_t part);

/* N more roundings in F for every term; BITS random bits under SR, 0 for 32. A directed mode leaves no bound. */
void hu_roundings_add(hu_roundings *r, hu_format f, hu_mode mode, int bits, double n);

/* The λ with which RESULTS of these sums keep their bounds all together with probability CONFIDENCE, 0 to 1. */
double hu_roundings_lambda(const hu_roundings *r, double confidence, double results);
/* γ of that λ. */
double hu_roundings_gamma(const hu_roundings *r, double lambda);
/* The bound of one result: MAG >= Σ|terms|, VALUE >= |exact result|. NaN where there is none. */
double hu_roundings_bound(const hu_roundings *r, double lambda, double mag, double value);
#endif
