/* SPDX-License-Identifier: Apache-2.0
   Harm rather than mere counts: what share of a vector's 2-norm was lost (to underflow or swamping), and the angle by
   which the loss turned the vector. Verdicts depend on these two. */
#ifndef HU_JUDGE_HARM_H
#define HU_JUDGE_HARM_H

#include "lib/base/str.h"

#include <stddef.h>

/* Sums over the elements added so far, in long double; starts zero-initialised. */
typedef struct hu_harm { long double exact2, got2, lost2, dot; size_t nonfinite; } hu_harm;

/* Adds an element; lost says that it was lost, in whatever sense the caller means. Elements that are not finite are
   only counted. */
void hu_harm_add(hu_harm *h, double got, double exact, int lost);
/* Adds n elements in their order; those are lost that became 0. */
void hu_harm_add_all(hu_harm *h, const double *got, const double *exact, size_t n);
/* The same where lost says which are lost. */
void hu_harm_add_some(hu_harm *h, const double *got, const double *exact, const char *lost, size_t n);
void hu_harm_merge(hu_harm *h, const hu_harm *other);
double hu_harm_share(const hu_harm *h);      /* |lost|2 / |exact|2 of the 2-norms; NaN if exact is 0 everywhere */
/* of the angle between got and exact; 0 if got is 0 everywhere, NaN if exact is */
double hu_harm_cosine(const hu_harm *h);
/* |got|2 / |exact|2; NaN if exact is 0 everywhere */
double hu_harm_length(const hu_harm *h);
/* harmless: share <= 0.1 and cosine >= 0.99; fatal: share >= 0.5 or cosine <= 0.9; anything else costs. "-" for NaN. */
const char *hu_verdict(double share, double cosine);
/* The verdict on weights, or on gradients that reached them: also fatal if an element is not finite. */
const char *hu_harm_verdict(const hu_harm *h);
/* Says share and cosine of what ("the update") in words; if elements are not finite, or all are 0, it says that
   instead. */
void hu_harm_say(hu_str *s, const hu_harm *h, const char *what);
/* The order of verdicts: 0 "-", 1 harmless, 2 costs, 3 fatal. */
int hu_verdict_rank(const char *word);
#endif
