/* SPDX-License-Identifier: Apache-2.0
   The family of operators that compute element i of their output from one element of each operand by a formula of
   formulas.def. A row names the formula and gives the exact function; everything else is here. Reductions and windows
   are elsewhere. */
#ifndef HU_OP_POINTWISE_H
#define HU_OP_POINTWISE_H

#include "lib/op/element/formulas.h"
#include "lib/op/element/map.h"

/* A formula, the function that it approximates (as in hu_blocks), and its operations per element. */
typedef struct hu_form {
	hu_formula formula;
	void (*exact)(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y);
	double flops;
} hu_form;

/* What a pointwise operator's row supplies. The output has operand 0's shape. */
typedef struct hu_pointwise {
	hu_how how[HU_POINTWISE_IN];                     /* how each operand is read */
	hu_form form[2];
	int (*which)(const hu_call *c);                  /* which form a call uses; NULL: the first */
	int (*constants)(const hu_call *c, double *k);   /* sets constants, returns how many; NULL: none */
	double usual[HU_POINTWISE_CONSTANTS];            /* for hu_pointwise_keys */
	hu_status (*check)(const hu_call *c);            /* refuses attributes; NULL: nothing to refuse */
	/* Prepares the whole map if it depends on the values of operands, or if the loop has another shape than operand
	   0. The members above may then be unset as far as the row's own functions do without them. NULL:
	   hu_pointwise_map is enough. */
	void (*prepare)(hu_map *m, const hu_call *c, hu_tensor *const *in);
} hu_pointwise;
extern const hu_columns hu_family_pointwise;

/* For the column constants: they are the operator's attributes, in order, each `usual` unless given. */
int hu_pointwise_keys(const hu_call *c, double *k);

/* Sets up the map of c's operands and constants. */
void hu_pointwise_map(hu_map *m, const hu_call *c, hu_tensor *const *in);
const hu_blocks *hu_formula_blocks(hu_formula f);

/* The attribute approx of gelu and its gradient: none or tanh. */
int hu_approx_tanh(const hu_call *c);
hu_status hu_approx_check(const hu_call *c);

/* Sets y to log(1 + exp(x)) at y's precision, for references, each step rounded at that precision; NaN gives NaN. */
void hu_pointwise_softplus(mpfr_t y, const mpfr_t x);

/* Columns of an operator that is one addition per element, in[0] + in[1] or in[0] - in[1]: the exact sum, the magnitude
   |a| + |b|, and the count of swamped additions. */
void hu_pair_exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y);
hu_status hu_pair_magnitude(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all);
hu_status hu_pair_swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, hu_swamp *count);
#endif
