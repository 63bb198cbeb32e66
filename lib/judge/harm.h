/* SPDX-License-Identifier: Apache-2.0
   Harm, not only counts: what a loss (zeroed, swamped) took of a vector's L2 norm,
   and the angle it turned the vector by. Verdicts rest on these two. */
#ifndef HU_ANALYZERS_HARM_H
#define HU_ANALYZERS_HARM_H

#include "lib/base/str.h"

#include <stddef.h>

/* Sums over the elements added so far; zero-initialised. Inner sums in long double. */
typedef struct hu_harm { long double exact2, got2, lost2, dot; size_t nonfinite; } hu_harm;

/* LOST: this element was lost (whatever that means to the caller). Elements that are not finite are only counted. */
void hu_harm_add(hu_harm *h, double got, double exact, int lost);
void hu_harm_join(hu_harm *h, const hu_harm *other);
double hu_harm_share(const hu_harm *h);      /* |lost|2 / |exact|2, not squared; NaN where exact is 0 everywhere */
double hu_harm_cosine(const hu_harm *h);     /* of got and exact; 0 where got is 0 everywhere, NaN where exact is */
/* harmless: share <= 0.1 and cosine >= 0.99; fatal: share >= 0.5 or cosine <= 0.9; else costs. "-" for NaN. */
const char *hu_verdict(double share, double cosine);
/* The verdict on weights, or on gradients that reached them: fatal too where an element is not finite. */
const char *hu_harm_verdict(const hu_harm *h);
/* Share and cosine of WHAT ("the update") in words; where elements are not finite, or all are 0, that instead of a
   share that is none. */
void hu_harm_say(hu_str *s, const hu_harm *h, const char *what);
/* 0 "-", 1 harmless, 2 costs, 3 fatal */
int hu_verdict_rank(const char *word);
#endif
