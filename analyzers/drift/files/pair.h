/* SPDX-License-Identifier: Apache-2.0
   How far a tensor is from what it was: every measure in one pass over both. */
#ifndef HU_ANALYZERS_PAIR_H
#define HU_ANALYZERS_PAIR_H

#include "analyzers/drift/contents/contents.h"

enum { HU_PAIR_FORMATS = 4 }; /* formats whose ulps may be asked for at once */

/* In what follows a is an element of the old tensor and b that of the new one. Two NaN are the same, and so are two
   infinities of one sign; pairs with anything else that is not finite count as nonfinite and enter no other measure
   but differ. */
typedef struct hu_measures {
	size_t count;     /* pairs that were compared */
	size_t differ;    /* pairs of different values; +0 and -0 differ */
	size_t nonfinite; /* pairs of which one is not finite and the other not the same */
	double abs;       /* the largest |b - a| */
	double rel;       /* the largest |b - a| over the largest |a|; 0 for 0/0 */
	double l2;        /* ‖b - a‖₂ / ‖a‖₂; 0 for 0/0 */
	double cosine;    /* a·b / (‖a‖₂ ‖b‖₂); 1 where both are 0, 0 where one is */
	double sqnr;      /* 10 log₁₀(‖a‖₂² / ‖b - a‖₂²), in decibels; inf where nothing differs */
	double ulps[HU_PAIR_FORMATS]; /* the largest |b - a| in ulps of each format at a */
	double largest;               /* the largest |a| */
	size_t at;                    /* the first pair with the largest |b - a|, or the first nonfinite one */
	double a, b;                  /* its two values */
	const char *step, *step2;     /* of series: the step of a and b, and a step that one of the two lacks or NULL */
	size_t gone, added;           /* series: steps that the new one lacks, and that the old one lacks */
	const char *text, *text2;     /* series of texts: the two texts there */
} hu_measures;

/* Compares two items of one number of elements, series apart. FORMAT: N formats whose ulps are wanted. An integer's ulp
   is 1. Sums are in double, their order belongs to the tensor, never to the threads; where squares would leave double's
   range both are scaled by a power of two. HU_EFILE where an archive turns out to be broken. */
hu_status hu_pair_measure(hu_measures *m, const hu_contents *old_file, const hu_item *old, const hu_contents *new_file,
	const hu_item *new, const hu_format_id *format, int n);
/* Compares two arrays of `count` doubles in the same way. */
void hu_pair_measure_reals(
	hu_measures *m, const double *a, const double *b, size_t count, const hu_format_id *format, int n);
#endif
