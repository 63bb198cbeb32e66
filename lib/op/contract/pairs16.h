/* SPDX-License-Identifier: Apache-2.0
   Products of integer codes as x86 processors without VNNI compute them: vpmaddubsw adds the products of two
   neighbouring terms and saturates the sum at 16 bits, and these sums are added in 32 bits (Intel's manual; ONNX
   Runtime's kernels for unsigned times signed bytes). Operand 0 holds codes less their zero point, as quantise makes
   them, operand 1 signed codes, operand 2 the zero point z. With u = rint(a + z) within 0 … 255 and w = rint(b) within
   -128 … 127, a NaN being 0: y = Σ sat16(u w + u' w') - z Σ w over pairs of terms from the first on, the last of an odd
   number alone. Terms outside an image are codes z. Exact but for the rounding to the output's format. */
#ifndef HU_OP_PAIRS16_H
#define HU_OP_PAIRS16_H

#include "lib/op/contract/contract.h"

/* Columns of such an operator. OF is the operator whose shapes and index map it has. */
hu_status hu_pairs16_shape(const hu_op *of, const hu_call *c, const hu_shape *in, hu_shape *out);
void hu_pairs16_cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost);
hu_status hu_pairs16_emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);
hu_status hu_pairs16_reference(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);
hu_status hu_pairs16_bound(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *bound);
#endif
