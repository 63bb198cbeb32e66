/* SPDX-License-Identifier: Apache-2.0
   How far two engines' probabilities of the same tokens are apart, in the measures of reinforcement learning, where one
   engine samples and the other one trains: the log-ratio d = log pB - log pA of each token, k1 = -d, k2 = d^2 / 2 and
   k3 = exp(d) - 1 - d, whose means estimate KL(A || B) where A sampled the tokens (Schulman 2020); KL(A || B) over all
   classes; and the greedy tokens that differ. */
#ifndef HU_ANALYZERS_ENGINES_MISMATCH_H
#define HU_ANALYZERS_ENGINES_MISMATCH_H

#include "analyzers/engines/logits.h"

enum { HU_MISMATCH_QUANTILES = 5 };
extern const double hu_mismatch_quantile[HU_MISMATCH_QUANTILES]; /* 0.5, 0.9, 0.99, 0.999, 1 */

/* Of one sequence, or of all. tokens: those that were compared; left_out: those without a label (a negative one);
   nonfinite: those of which an engine has no probabilities, a logit being NaN or +inf or all -inf; they are not
   compared. worst, first: the places of the largest |d| and of the first greedy token that differs; -1: none. */
typedef struct hu_mismatch {
	size_t tokens, left_out, nonfinite, same, beyond, differ;
	double sum, sum_abs, k1, k2, k3, kl, kl_max, max;
	long long worst, first;
} hu_mismatch;

typedef struct hu_mismatches {
	hu_mismatch all, *sequence;
	size_t sequences;
	double quantile[HU_MISMATCH_QUANTILES]; /* of |d| over all tokens, NaN where there are none */
} hu_mismatches;

/* Compares the logits of A and B, of one shape, at the tokens given, or, where that is NULL, at A's greedy ones. A
   token is beyond tau where pB/pA or pA/pB is above it. HU_EFILE where a token is no class. */
hu_status hu_mismatch_measure(
	hu_mismatches *m, const hu_logits *a, const hu_logits *b, const hu_logits *tokens, double tau);
void hu_mismatch_release(hu_mismatches *m);
#endif
