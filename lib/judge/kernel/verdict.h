/* SPDX-License-Identifier: Apache-2.0
   What a kernel's result is worth, from the balls that the declared graph gives before its last store. */
#ifndef HU_KERNEL_VERDICT_H
#define HU_KERNEL_VERDICT_H

#include "lib/judge/kernel/balls.h"

/* From the best to the worst. */
typedef enum hu_kernel_word {
	HU_KERNEL_RIGHT,
	HU_KERNEL_UNDECLARED, /* right, but not by the declared roundings */
	HU_KERNEL_BIASED,
	HU_KERNEL_IMPROBABLE, /* beyond the probable bound */
	HU_KERNEL_WRONG,      /* beyond the proven bound */
	HU_KERNEL_WORDS
} hu_kernel_word;
const char *hu_kernel_words(hu_kernel_word w);     /* as it is printed */
const char *hu_kernel_word_name(hu_kernel_word w); /* one word, for --fail-if */

/* A bias along one direction: every error alike, errors away from zero, or errors in proportion to the value. t is the
   larger statistic's smaller one of the two references; it exceeds HU_BIAS_T by chance at most 2e-8 of the time. */
typedef struct hu_bias {
	const char *direction;
	double mean_ulps, t, t_exact, t_declared;
} hu_bias;
#define HU_BIAS_T 6.07
/* The mean square error counts as improbable from so many times the model's on, in which rounding errors are uniform,
   if that is so many standard errors above it, and also from so many times that of the declared roundings on. */
#define HU_ENERGY 1.35
#define HU_ENERGY_T 6

typedef struct hu_kernel_verdict {
	hu_kernel_word word;
	size_t n, unbounded;                          /* elements, and those of them that have no bound */
	size_t wrong, improbable, undeclared, differ; /* differ: from the exact value rounded once */
	size_t worst;                                 /* the element with the largest error over its proven bound */
	double ratio, got, exact, bound, probable, probable_ratio;
	double largest; /* the largest magnitude of an exact value: an absolute tolerance above it accepts zeros */
	double worst_ulps, mean_ulps, radius; /* radius: the mean proven bound in half ulps */
	double energy, energy_t; /* mean square error over its model's, and how many standard errors it is above 1 */
	hu_bias bias;
	double confidence, lambda;
} hu_kernel_verdict;

/* got has the n values of a result, rounded to f. x are the balls where stores add half an ulp, declared those where
   they are decided, compute those where they are left out; the last two may be x. compute may be NULL, which takes the
   computation for exact: a bias is then a suspicion. */
void hu_kernel_judge(hu_kernel_verdict *v, const double *got, const hu_balls *x, const hu_balls *declared,
	const hu_balls *compute, hu_format f, double confidence);
/* The bounds of |got - x| for one element, the last store included. */
double hu_kernel_bound(hu_ball x, hu_format f);
double hu_kernel_probable(hu_ball x, hu_format f, double lambda);
double hu_kernel_lambda(size_t n, double confidence);

/* bias.c */
hu_bias hu_kernel_bias(const double *got, const hu_balls *x, const hu_balls *declared, const hu_balls *compute,
	hu_format f, double lambda);
#endif
