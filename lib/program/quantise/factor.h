/* SPDX-License-Identifier: Apache-2.0
   The weights of a product and their quantisation. A weight belongs to a column, that is an output channel, and to a
   term k of its sums; of convolutions terms count in the order of ONNX's OIHW, the one that deployment groups by. */
#ifndef HU_PROGRAM_FACTOR_H
#define HU_PROGRAM_FACTOR_H

#include "lib/op/call.h"
#include "lib/program/program.h"
#include "lib/program/quantise/scheme.h"

typedef struct hu_factor {
	const float *w;
	size_t columns, k;
	size_t taps, channels; /* of a convolution's kernel, HWIO; taps is 0 for a matrix */
	int transposed;        /* a matrix with a row a column */
} hu_factor;

/* Describes operand 1 of C, a constant float32 tensor: of a matmul without batches or a conv2d. 0 where it is none. */
int hu_factor_of(hu_factor *f, const hu_call *c, const hu_tensor *t);

/* Integer codes ±(2^(bits-1) - 1) by scale[column] = fl32(amax / (2^(bits-1) - 1)), amax the column's or the tensor's
   as GRAIN says; code[i] is the code of w[i]. *MOST gets the largest sum of a column's magnitudes, which bounds sums
   of products. */
void hu_factor_codes(float *code, float *scale, double *most, const hu_factor *f, int bits, hu_grain grain);
/* Codes of format ID, saturating, by scale[column] = fl32(amax / the largest value). */
void hu_factor_scaled(float *code, float *scale, const hu_factor *f, hu_format_id id, hu_grain grain);

/* Integer codes of N biases, rint(fl32(bias / scale)) within 32 bits: code[i], and what they are worth in float32,
   worth[i] = fl32(fl32(code) scale). Either may be NULL. */
void hu_factor_biases(int32_t *code, float *worth, const float *bias, const float *scale, size_t n);
/* The constant tensor of P, a number a column, that call C adds as a bias to the result of PRODUCT; -1 where C does no
   such thing. */
int hu_factor_bias_of(const hu_program *p, const hu_tensor *constant, const hu_call *c, const hu_call *product);

/* Writes the weights that remain of F where weights alone are quantised by S, and returns how many bits they take,
   scales and zero points included. Groups of integers follow ONNX Runtime's MatMulNBits: symmetric, scale = (the
   element of largest magnitude) / -2^(bits-1) and zero 2^(bits-1); else scale = (max - min) / (2^bits - 1), 0
   included, and zero = rint(-min / scale); code = round(w (1 / scale) + zero), halves away from zero, in float32. */
double hu_factor_remains(float *to, const hu_factor *f, const hu_scheme *s);
#endif
