/* SPDX-License-Identifier: Apache-2.0
   The family of Adam-like optimizers. Operands: weight, gradient, found_inf, m, v, clock, and with the attribute
   scheduled the learning rate; results: weight, m, v. This
   holds what adam and adamw share: shapes, the rounding of epsilon, keeping the old values if found_inf is set, bounds,
   certified values, and counts of updates that change nothing. */
#ifndef HU_OP_MOMENTS_H
#define HU_OP_MOMENTS_H

#include "lib/op/update/update.h"

/* What a row of the family supplies. */
typedef struct hu_moments {
	/* step computes an element's update. term does the same, with what is subtracted from the weight as its second
	   result. alone compute the moments m and v by themselves, from the operands moment and gradient. */
	const hu_blocks *step, *term, *alone[2];
	/* Sets the step's constants and their errors, and those that only the reference reads. */
	void (*constants)(hu_map *m, const hu_call *c, hu_tensor *const *in);
	int eps;                 /* the index of epsilon among the constants */
	double usual_eps;        /* epsilon of a call without the attribute eps */
	/* What the moments m and v subtract from a weight, in units of the learning rate and without weight decay; one
	   and two are 1 - beta^t of each. It is computed in double, because it only measures what a stored moment
	   does. */
	double (*direction)(double m, double v, double one, double two, double eps);
	/* Certifies the constants that no double represents. */
	void (*certify)(hu_map *m, hu_tensor *const *in, const hu_sink *sink);
	/* Takes the constants of a moment alone (out is 1 or 2) from those of the step. */
	void (*certify_alone)(hu_map *m, const hu_map *step, int out);
	int blends; /* 1 where moments are beta old + (1 - beta) new, by constants 1 and 2 of each map alone */
	double flops;            /* for one element */
} hu_moments;
extern const hu_columns hu_family_moments;

/* Formulas for HU_BLOCKS_OF that define the blocks step and term of hu_moments. UPDATE(c, w, g, &m, &v) is the step's
   formula and UPDATE_term(c, g, &m, &v) gives what it subtracts from the weight. */
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

/* Returns 1 where a call computes its step from moments that are finer than what it stores of them in this format. */
int hu_moments_are_finer(const hu_call *c, const hu_format *stored);
/* Epsilon as a call adds it: this program rounds it to the format of its moments, a library to that which it computes
   in. */
double hu_moments_epsilon(const hu_call *c, const hu_format *stored);
/* Returns the learning rate, the attribute's or the operand's, from which the reference then takes constant i. */
double hu_moments_rate(hu_map *m, int i, const hu_call *c, hu_tensor *const *in);
/* Returns the rate as a certified value; rate is the attribute's. */
hu_dd hu_moments_rate_dd(const hu_call *c, hu_tensor *const *in, const hu_sink *sink, double rate);
/* What is known of a step: that it is not 0, nothing, or that it is 0. */
enum { HU_MOMENTS_MOVE, HU_MOMENTS_OPEN, HU_MOMENTS_STILL };
/* Sets still[i] to one of these for the exact step of element first + i, weight decay aside. That step is 0 where m'
   is, and in doubles m' = beta m + (1 - beta) g errs by at most 2^-51 of its terms. */
void hu_moments_still(const hu_call *c, hu_tensor *const *in, size_t first, size_t n, char *still);
/* Encloses moment out, 1 or 2, of a row that blends by m, its map alone: as hu_map_enclose does, and with an error of 0
   where operands are exact and the moment is the sum of two doubles, as nearly all of float32 are. */
hu_status hu_moments_enclose_alone(hu_map *m, hu_tensor *const *in, int out, hu_format_id f, const size_t *element,
	size_t n, hu_sink *sink);
/* m' and v' of one element in exact arithmetic; b1 and b2 are the betas, x the map's operands. */
void hu_moments_exact(mpfr_t m, mpfr_t v, const mpfr_t b1, const mpfr_t b2, const mpfr_t *x);
/* y = 1 - a */
void hu_moments_rest(mpfr_t y, const mpfr_t a);
#endif
