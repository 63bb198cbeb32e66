/* SPDX-License-Identifier: Apache-2.0
   Summation models: inner products added in a named order and format, bit for bit, with proven bounds of their error.
   halfulp-sums(7) describes all models; the command `halfulp accumulate` shows them at work. */
#ifndef HALFULP_SUM_H
#define HALFULP_SUM_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* A model with the formats of its operands and of its result. */
typedef struct halfulp_sum halfulp_sum;

/* Reads a model such as "fma,acc=fp32", "chunk:64,acc=fp16", "kahan,acc=bf16" or "tc:hopper" (a tensor core). a and b
   are the operands' formats, out is the one that the sum is rounded to at last, to nearest even. HALFULP_EINVAL names
   the word that is wrong, or says which instruction the tensor core lacks. Block-scaled models are HALFULP_EUNABLE. */
halfulp_status halfulp_sum_parse(halfulp_sum **sum, const char *text, const halfulp_format *a, const halfulp_format *b,
	const halfulp_format *out);
void halfulp_sum_free(halfulp_sum *sum);
/* The model's canonical text, which halfulp_sum_parse reads back as the same model. It lives as long as the model. */
const char *halfulp_sum_text(const halfulp_sum *sum);

/* y is the sum of a[k] b[k] over n terms, with exactly the roundings that the model names. a[k] and b[k] must be values
   of their formats: HALFULP_EINVAL names the first that is not (halfulp_round makes them so). Models that round
   stochastically take the random bits of seed; others do not read it. */
halfulp_status halfulp_sum_dot(
	double *y, const halfulp_sum *sum, const double *a, const double *b, size_t n, uint64_t seed);
/* A proven bound of |y - exact sum| for these operands, the last rounding included; +infinity where overflow cannot be
   excluded. */
halfulp_status halfulp_sum_bound(double *bound, const halfulp_sum *sum, const double *a, const double *b, size_t n);
/* The bound before any data is seen: for n terms and every M >= sum of |a[k] b[k]| that is at most *most,
   |y - exact sum| <= *relative M + *absolute, the last rounding included. The theorems are named in the header
   lib/sum/bound.h of the sources. Of tensor cores, whose bound depends on exponents, both are +infinity: use
   halfulp_sum_bound. */
halfulp_status halfulp_sum_apriori(
	double *relative, double *absolute, double *most, const halfulp_sum *sum, size_t n);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
