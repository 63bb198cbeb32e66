/* SPDX-License-Identifier: Apache-2.0
   Whether the errors of one tensor have mean zero, from errors that arrive some at a time, in any order and from any
   number of threads or processes: all sums are of whole numbers. lib/judge/kernel/bias.c is the test for one result
   that is held at once. */
#ifndef HU_JUDGE_BIAS_SUM_H
#define HU_JUDGE_BIAS_SUM_H

#include "lib/base/parts/pack.h"
#include "lib/judge/verdict/bias.h"
#include "lib/judge/judge.h"

#include <stdint.h>

/* An error above so many ulps counts as so many, which keeps symmetric errors symmetric. */
#define HU_BIAS_LARGEST 4096.0

/* Sums in units of 2^-24 ulp, by direction (0: signed errors, 1: errors away from zero) and cluster. error is against
   the exact value, rounded against the exact value rounded once to the format, declared against the emulation, where
   that was asked for (asked). reach is what the computation before the last rounding may err, summed. */
typedef struct hu_bias_sum {
	hu_format f;
	size_t of, n; /* elements of the tensor, and those that were counted: all that are finite, but none of fp64,
			 whose errors have no sign in a double */
	int64_t error[2][HU_BIAS_CLUSTERS], rounded[2][HU_BIAS_CLUSTERS], declared[2][HU_BIAS_CLUSTERS];
	uint64_t reach, reach_declared;
	int asked;
} hu_bias_sum;

/* The mean errors in ulps and the statistics, each of the direction in which it is largest. NaN: not measured. */
typedef struct hu_bias_found {
	double signed_mean, outward_mean, t, t_declared;
	int biased; /* both statistics exceed HU_BIAS_T in one direction */
} hu_bias_found;

void hu_bias_sum_begin(hu_bias_sum *b, hu_format f, size_t of);
/* Adds judged values; several threads may call it at once. */
void hu_bias_sum_add(hu_bias_sum *b, const hu_judging *some);
void hu_bias_sum_add_judged(hu_bias_sum *b, const hu_judged *j);
/* bias_emulate.c: emulates the elements of job that b was given, and adds what the job's values are from that. Nothing
   is added where the call cannot be emulated. */
void hu_bias_sum_ask(hu_bias_sum *b, const hu_judge_job *job, const hu_env *env);
/* Adds element `element`, of which the declared emulation gives `declared`. */
void hu_bias_sum_emulated(hu_bias_sum *b, size_t element, double got, double declared);
/* Whether the emulation has to be asked: the larger T of what was added exceeds the alarm's over the root of parts. If
   none of so many parts of a tensor does, the whole cannot be biased. */
int hu_bias_sum_suspects(const hu_bias_sum *b, int parts);
void hu_bias_sum_merge(hu_bias_sum *to, const hu_bias_sum *part);
void hu_bias_sum_end(hu_bias_found *r, const hu_bias_sum *b);
/* Adds n elements from `first` on of two recorded versions x and y of a tensor: the differences y - x, in ulps at x.
   hu_bias_sum_end_versions is then the end: t_declared and biased say nothing, since neither version is exact. */
void hu_bias_sum_versions(hu_bias_sum *b, size_t first, const double *x, const double *y, size_t n);
void hu_bias_sum_end_versions(hu_bias_found *r, const hu_bias_sum *b);
/* The same of two whole tensors, in ulps of f. */
void hu_bias_of_versions(hu_bias_found *r, const hu_tensor *x, const hu_tensor *y, hu_format f);
/* Packs the sums, or reads those of a part of the same tensor; b was begun. */
void hu_bias_sum_pack(hu_pack *r, hu_bias_sum *b);
#endif
