/* SPDX-License-Identifier: Apache-2.0
   The mean of several draws of a vector beside its exact value: how much of the distance is noise, which falls with
   the number of draws, and how much is bias, which stays. */
#ifndef HU_ANALYZERS_STOCHASTIC_NOISE_H
#define HU_ANALYZERS_STOCHASTIC_NOISE_H

#include "lib/base/parts/pack.h"

#include <stddef.h>

/* A curve has the means of 1, 2, 4, … draws. */
enum { HU_NOISE_CURVE = 5, HU_NOISE_DRAWS = 1 << (HU_NOISE_CURVE - 1) };

/* Sums of squares over the elements of one tensor, or of several, at one point of the curve: exact2 of the exact
   values; error2 of the mean's distances from them; variance of the estimated variances of one draw; dot of exact value
   times mean, and dot_variance of the variance of one draw's such product; zero2 of the exact values whose every draw
   so far was 0. */
typedef struct hu_noise {
	long double exact2, error2, variance, dot, dot_variance, zero2;
	size_t n;
} hu_noise;

/* Draws of one vector as they arrive. */
typedef struct hu_noise_draws {
	double *first;        /* the first draw, from which the others are taken, so that equal ones differ by 0 */
	double *sum, *square; /* of each element's distances from that */
	char *zero;           /* of each element: 1 while every draw was 0 */
	size_t n;
	int draws;
} hu_noise_draws;

void hu_noise_draws_init(hu_noise_draws *d, size_t n);
void hu_noise_draws_release(hu_noise_draws *d);
/* Adds element i of the next draw; hu_noise_draws_next ends that draw. Elements whose draw or exact value is not finite
   must not be added. */
void hu_noise_draws_add(hu_noise_draws *d, size_t i, double got);
void hu_noise_draws_next(hu_noise_draws *d);
/* The sums after the draws so far. */
void hu_noise_of(const hu_noise_draws *d, const double *exact, hu_noise *s);
void hu_noise_merge(hu_noise *to, const hu_noise *s);
void hu_noise_pack(hu_pack *r, hu_noise *s);

/* Of the exact vector's 2-norm: the distance of the mean of k draws; the noise of one draw, that is the root of its
   variance; and the distance of the expected value, estimated by the mean's squared distance less the variance / k,
   which has no bias of its own (0 where the difference is negative). NaN where the exact vector is 0, and the latter
   two also where k is 1. */
double hu_noise_error(const hu_noise *s);
double hu_noise_single(const hu_noise *s, int k);
double hu_noise_bias(const hu_noise *s, int k);
/* The cosine of the expected value to the exact one, whose squared norm is estimated in the same way; of one draw it is
   that of the draw. At most 1. */
double hu_noise_cosine(const hu_noise *s, int k);
/* The projection of the mean on the exact vector, of its length: below 1 where the expected value falls short. */
double hu_noise_gain(const hu_noise *s);
/* The share of the 2-norm that the expected value lacks in the exact vector's direction, as far as the draws tell: the
   root of 1 - gain - 2 standard deviations of the gain, or 0. Of elements that are swamped, and others that are not,
   it is the share of those. */
double hu_noise_lost(const hu_noise *s, int k);
/* The share of the exact 2-norm in elements that were 0 in every draw. */
double hu_noise_zero(const hu_noise *s);
#endif
