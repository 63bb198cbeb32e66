/* SPDX-License-Identifier: Apache-2.0
   Scaled dot-product attention and its gradients on one query's matrix at a time: exact values to the precision of a
   double or of MPFR, and bounds on what a computation loses whatever the order of its sums. The operators' rows are in
   lib/op/kind. */
#ifndef HU_OP_CONTRACT_ATTENTION_H
#define HU_OP_CONTRACT_ATTENTION_H

#include "lib/op/sink.h"

/* The operands of a call: queries (Q x L x E), keys (K x S x E) and values (K x S x V), where Q = K times repeat and
   query matrix b reads keys and values b / repeat; a mask that is added (L x S, or one of these for each b) or NULL. Of
   the gradient also the result, its logarithms of sums of exponentials and its gradient. */
typedef struct hu_attention {
	const hu_call *c;
	hu_tensor *const *in;
	const hu_sink *sink;    /* whose trailing parts and errors the operands have; NULL: none */
	int mask, out, lse, dy; /* which operand each is; -1: there is none */
	size_t Q, repeat, L, S, E, V;
	int causal;
	double factor;
} hu_attention;
hu_attention hu_attention_of(const hu_call *c, hu_tensor *const *in, int gradient, const hu_sink *sink);

/* The element of the mask, which there is, that is added to the score of query i and key j of matrix b. */
size_t hu_attention_mask(const hu_attention *a, size_t b, size_t i, size_t j);

/* What a call in its compute format may lose: each operation u of its result and tiny besides, an exponential `exp`
   of itself more; each weight that enters a product narrow of itself and narrow_tiny besides, as where it is rounded
   to the operands' format, and each stretch of a library's sum of gradients `stored`, which it adds in that format;
   of a result that is held in a narrower format before it is divided, held of itself and held_tiny, or everything
   from held_most on. Beyond most, or of a weight beyond widest, everything may be lost. block is that of a call with
   blocks, whose sums are by the models inner and outer; else 0, and sums are in any order. cut is what a tensor
   core's operands of fp32 lose of a product, and below 2^emin they are subnormal there. */
typedef struct hu_attention_loss {
	double u, tiny, exp, narrow, narrow_tiny, stored, held, held_tiny, held_most, most, widest, cut;
	size_t block;
	hu_sum inner, outer;
	int emin, meets; /* meets: a library's kernel multiplies hidden keys' zeros by what may be no number */
} hu_attention_loss;
hu_attention_loss hu_attention_loss_of(const hu_call *c, hu_tensor *const *in);

/* What a sum of n products loses of the sum of their magnitudes, and besides. weights: the products of weights, which
   are added block after block. */
typedef struct hu_attention_sum {
	double relative, absolute;
} hu_attention_sum;
hu_attention_sum hu_attention_sum_loss(const hu_attention_loss *w, int weights, size_t n);
/* What the magnitude of a product of a and b counts in such a sum: a tensor core aligns subnormal operands by the least
   exponent, whatever their size. */
double hu_attention_magnitude(const hu_attention_loss *w, double a, double b);

/* Computes output `out` of the matrices that n ascending elements lie in: y[i] is a double near the exact value of
   element[i] (of all elements where it is NULL), e[i] bounds the distance between that and a computation's value. */
void hu_attention_forward(
	const hu_attention *a, hu_attention_loss w, int out, const size_t *element, size_t n, double *y, double *e);
void hu_attention_backward(
	const hu_attention *a, hu_attention_loss w, int out, const size_t *element, size_t n, double *y, double *e);

/* Encloses the exact values of the same elements. */
void hu_attention_forward_dd(const hu_attention *a, int out, const size_t *element, size_t n, hu_dd *y);
void hu_attention_backward_dd(const hu_attention *a, int out, const size_t *element, size_t n, hu_dd *y);

/* The score of query i and key j of matrix b by MPFR at t's precision; -infinity where causal hides it. */
void hu_attention_exact_score(const hu_attention *a, size_t b, size_t i, size_t j, mpfr_t t, mpfr_t x);

/* Columns that both rows share, from these. */
typedef void hu_attention_values(
	const hu_attention *a, hu_attention_loss w, int out, const size_t *element, size_t n, double *y, double *e);
hu_status hu_attention_bound(const hu_call *c, hu_tensor *const *in, int gradient, hu_attention_values *values, int out,
	const size_t *element, size_t n, double *bound);
hu_status hu_attention_enclose(
	const hu_call *c, hu_tensor *const *in, int gradient, int out, const size_t *element, size_t n, hu_sink *sink);
hu_status hu_attention_shape(const hu_call *c, const hu_shape *in, int mask);
#endif
