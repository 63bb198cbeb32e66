/* SPDX-License-Identifier: Apache-2.0
   Exact values of a whole output as doubles, for analyzers that need the numbers and no verdicts on them. */
#ifndef HU_JUDGE_EXACT_H
#define HU_JUDGE_EXACT_H

#include "lib/judge/judge.h"

/* Computes n elements of output out from number `first` on: v[i] = the exact value rounded to nearest, or, if minus is
   not NULL, exact value - minus's element rounded away from zero, so that a nonzero difference stays nonzero.
   Enclosures decide what they can and the reference the rest (everything, if the engine has no enclosures). One
   enclosed value per call, and one in 65536 drawn by the call's number, are also computed by the reference: HU_EUNABLE
   (hu_exact_agreed of lib/exact/judge.h) if the two differ. Some of all elements, but not all, are computed of a call
   that has a grain (hu_op) alone. *methods counts the values by method, with exact left at 0. */
hu_status hu_exact_doubles(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, size_t first, size_t n, hu_methods *methods);

/* The same of n listed elements, which ascend. */
hu_status hu_exact_doubles_of(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, const size_t *element, size_t n, hu_methods *methods);

/* The same of elements whose enclosures were kept when they were judged. */
hu_status hu_exact_doubles_enclosed(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, const hu_enclosed *e, hu_methods *methods);
#endif
