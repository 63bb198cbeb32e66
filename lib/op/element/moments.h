/* SPDX-License-Identifier: Apache-2.0
   The family of Adam's kind: operands weight, gradient, found_inf, m, v, clock; results weight, m, v. What adam and
   adamw share stands here: shapes, epsilon's rounding, the choice of the old values where found_inf is set, bounds,
   certified values, and counts of updates that change nothing. */
#ifndef HU_OP_MOMENTS_H
#define HU_OP_MOMENTS_H

#include "lib/op/reduce/reduce.h"

/* What a row of the family says of itself. */
typedef struct hu_moments {
	/* An element's step; the same with what is taken off the weight as its second result; the moments m and v
	   alone, of the operands moment and gradient. */
	const hu_blocks *step, *term, *alone[2];
	/* Sets the step's constants, their errors, and those that only the reference reads. */
	void (*constants)(hu_map *m, const hu_call *c, hu_tensor *const *in);
	int eps;                 /* which constant is epsilon */
	double usual_eps;        /* epsilon where the call has no attribute eps */
	/* What moments M and V take off a weight, in units of the learning rate and without decay; ONE, TWO: 1 - beta^t
	   of each. In double: for measures of what a stored moment does, not for results. */
	double (*direction)(double m, double v, double one, double two, double eps);
	/* Certifies the constants that no double holds. */
	void (*certify)(hu_map *m, hu_tensor *const *in, const hu_sink *sink);
	/* The constants of a moment alone, OUT 1 or 2, from those of the step. */
	void (*certify_alone)(hu_map *m, const hu_map *step, int out);
	double flops;            /* an element */
} hu_moments;
extern const hu_columns hu_family_moments;

/* Formulas for HU_BLOCKS_OF, where UPDATE(c, w, g, &m, &v) is the step's and UPDATE_term(c, g, &m, &v) what it takes
   off the weight: the blocks step and term of hu_moments. */
#define HU_MOMENTS_STEP(UPDATE, S, T)                                                                                 \
	do {                                                                                                          \
		T m = in[2][i], v = in[3][i];                                                                         \
		out[0][i] = UPDATE##S(c, in[0][i], in[1][i], &m, &v);                                                 \
		out[1][i] = m;                                                                                        \
		out[2][i] = v;                                                                                        \
	} while (0)
#define HU_MOMENTS_TERM(UPDATE, S, T)                                                                                 \
	do {                                                                                                          \
		T m = in[2][i], v = in[3][i];                                                                         \
		out[0][i] = UPDATE##S(c, in[0][i], in[1][i], &m, &v);                                                 \
		m = in[2][i];                                                                                         \
		v = in[3][i];                                                                                         \
		out[1][i] = UPDATE##_term##S(c, in[1][i], &m, &v);                                                    \
	} while (0)

/* m' and v' of one element in exact arithmetic; b1 and b2 are the betas, x the map's operands. */
void hu_moments_exact(mpfr_t m, mpfr_t v, const mpfr_t b1, const mpfr_t b2, const mpfr_t *x);
/* y = 1 - a */
void hu_moments_rest(mpfr_t y, const mpfr_t a);
#endif
