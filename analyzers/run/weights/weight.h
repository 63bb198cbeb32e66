/* SPDX-License-Identifier: Apache-2.0
   One parameter or state tensor in one step: before, after, and what the exact step makes of it. */
#ifndef HU_ANALYZERS_WEIGHT_H
#define HU_ANALYZERS_WEIGHT_H

#include "analyzers/run/analyzer.h"
#include "lib/judge/harm.h"

/* n elements, of which `moved` changed their bits; those of tensors with a recorded gradient (with_gradient), of which
   it is not 0 in `gradients`, and of these `kept` kept their bits. judged: elements whose exact next value is known,
   and of which the exact step moves exact_moves; lost: of these those that kept their bits, or all of a tensor whose
   recorded gradients are all 0 where the exact ones are not. kept_unjudged, gradients_unjudged: of elements without an
   exact value. silent: elements without one, whose tensor's gradients are all 0. real2, real2_judged: the squared
   2-norm of the steps taken. pull2, pull2_kept: that of all gradients and of those counted by kept_unjudged.
   kept2: the squared 2-norm of the latter elements' last places, which is the most that rounding took of their step.
   gradient_tensors and judged_tensors count tensors whose gradient and whose update are judged. */
typedef struct hu_weight {
	hu_harm harm;
	size_t n, moved, with_gradient, gradients, kept, gradient_judged, judged, exact_moves, lost, kept_unjudged,
		gradients_unjudged, silent, gradient_tensors, judged_tensors;
	long double real2, real2_judged, pull2, pull2_kept, kept2;
} hu_weight;

/* Returns 1 for parameters and for states that no other analyzer judges, with more than one element, of which both
   values were recorded. */
int hu_weight_is_studied(const hu_program *p, const hu_trace *t, int i, int next);
/* The gradient of tensor i in the step, or that which its next value was computed from; -1: none was recorded. */
int hu_weight_gradient(const hu_program *p, const hu_trace *t, int i, int next);
void hu_weight_compute(hu_weight *w, const hu_program *p, const hu_trace *t, int i, int next, int grad);
void hu_weight_merge(hu_weight *to, const hu_weight *w);
void hu_weight_pack(hu_pack *r, hu_weight *w);

/* Share of the 2-norm of the steps taken whose exact update is known: 0 where nothing was judged, NaN where nothing
   moved and nothing was judged. */
double hu_weight_seen(const hu_weight *w);
/* An update is whole if at least this cosine is left of it: what a twin of the training in float64 would confirm. */
#define HU_WEIGHT_WHOLE 0.999
/* The word for what was seen, of the steps taken beside the exact ones: fatal where half of their 2-norm or more
   was lost, or a tenth and the cosine is 0.9 or less, or they are twice as long; harmless where no more than a
   tenth was lost, they are whole and their lengths are within a tenth; else costs. Where they are not known, of
   the elements that kept their bits although their gradient is not 0: fatal for half of them whose gradients are
   half of the 2-norm or more and whose last places may be half of the step's, costs for more than a tenth. "-"
   where neither tells anything; states cost at most. */
const char *hu_weight_verdict(const hu_weight *w, int parameter);
#endif
