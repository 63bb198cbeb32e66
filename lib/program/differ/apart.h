/* SPDX-License-Identifier: Apache-2.0
   How far two versions of one tensor are apart, and a sentence that says so. */
#ifndef HU_PROGRAM_APART_H
#define HU_PROGRAM_APART_H

#include "lib/base/str.h"
#include "lib/program/program.h"

typedef struct hu_apart {
	size_t n, differ;    /* elements, and how many of them have other bits: +0 and -0 do */
	size_t first, worst; /* numbers of elements, from 0 in the tensor's order; 0 where none differs */
	double ulps, a, b;   /* of the worst element: distance in ulps of `format` at a, and both values */
	hu_format_id format; /* the one of the two that has the lower precision */
} hu_apart;

/* Compares x with y, which have the same number of elements. The worst is the first of the most distant ones; the
   distance is infinite where one value is not finite and the other is another one. Exact. */
hu_apart hu_apart_of(const hu_tensor *x, const hu_tensor *y);
/* Appends "3 of 640 elements differ, the worst, number 5, by 12 ulps of fp16: 0.1 -> 0.11 (relative 0.1)", and of a
   single element that is one ulp off a sentence that says this. Nothing where none differs. */
void hu_apart_text(hu_str *s, const hu_apart *d);
#endif
