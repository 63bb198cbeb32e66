/* SPDX-License-Identifier: Apache-2.0
   What a policy changed in a model's outputs: decisions and distances, against float32's outputs. */
#ifndef HU_ANALYZERS_MEASURES_H
#define HU_ANALYZERS_MEASURES_H

#include "analyzers/network/deciding.h"
#include "analyzers/validate/effect/evaluate.h"

/* A changed decision: row ROW of input INPUT, whose class WAS in float32 and IS now. margin32: by how much float32's
   value of that class is above its next largest one; margin: by how much the new class's value is above the old
   one's now. */
typedef struct hu_change {
	size_t input, row, was, is;
	double margin32, margin;
} hu_change;

/* How far one output is from float32's: as in hu_effect. whole: its elements are whole numbers or truth values, of
   which no distance is told. signed_share is the mean of the finite errors over their root mean square, outward_share
   that of errors away from zero, and bias_t the larger T of both, the sum over the root of the sum of squares of the
   sums of HU_BIAS_CLUSTERS ranges of elements; NaN where there is no error. What a policy emulates is what it declares,
   so that a direction is a finding and no alarm. */
typedef struct hu_distance {
	int whole;
	size_t nonfinite;
	double rel_l2, sqnr_db, max_error, signed_share, outward_share, bias_t;
} hu_distance;

/* flips: inputs whose decision differs from float32's. low, high: Wilson's 95 % interval of their share. top: inputs
   for which float32's first class is not among the policy's first `top` in some row. open: flipped inputs where
   float32's margin is no larger than the errors of the two values together, against the exact network; flips_judged:
   flipped inputs on which the exact network was run. decision_flips: of all inputs' decisions those that differ.
   accuracy: share of rows whose class is the label, `right` of the `judged`
   ones; NaN without labels. alone: an input has one decision. The distances go over all elements of all floating-point
   outputs: rel_l2 = |y - y32|2 / |y32|2, sqnr_db = -20 log10 of it, the largest difference; kl: the mean over rows of
   the divergence of softmax(y) from softmax(y32), or of the rows themselves where float32's are probabilities; NaN
   without decisions. An element that is not finite makes them infinite. change: of each flipped input, in their order,
   the first row whose class changed. */
typedef struct hu_effect {
	size_t inputs, flips, top, open, flips_judged, nonfinite, right, judged;
	int alone;
	double low, high, accuracy, rel_l2, sqnr_db, max_error, kl;
	double perplexity; /* of the labels: exp of their mean surprise in nats; NaN without labels of classes */
	char *flipped;     /* by input */
	size_t decision_flips, nout;
	hu_distance *out; /* by output */
	hu_change *change;
	size_t nchange, capchange;
} hu_effect;

void hu_effect_of(hu_effect *r, const hu_evaluated *e, const hu_evaluated *base, const hu_imported *m,
	const hu_deciding *d, const hu_samples *s);
void hu_effect_release(hu_effect *r);

/* Wilson's interval of a share of K among N at 95 %. */
void hu_wilson(size_t k, size_t n, double *low, double *high);
/* The first of the N values' largest; NaN is the largest of all. *SECOND: the largest of the others, if not NULL. */
size_t hu_two_largest(const double *y, size_t n, size_t *second);
#endif
