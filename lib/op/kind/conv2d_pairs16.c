/* SPDX-License-Identifier: Apache-2.0
   conv2d_pairs16 a, b, z: conv2d of integer codes where sums of two products saturate at 16 bits
   (lib/op/contract/pairs16.h). Back ends of devices refuse it, because no GPU computes so: its dot products and matrix
   units for bytes add in 32 bits. */
#include "lib/op/contract/conv.h"
#include "lib/op/contract/pairs16.h"

static hu_status
map(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	return hu_op_conv2d.contract->map(x, c, in);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	return hu_pairs16_shape(&hu_op_conv2d, c, in, out);
}

const hu_op hu_op_conv2d_pairs16 = {
	.name = "conv2d_pairs16", .summary = "convolution of codes, pairs of terms saturating at 16 bits",
	.min_in = 3, .max_in = 3, .nout = 1, .attrs = HU_CONV_ATTRS, .cls = HU_CLASS_FIXED, .parity = HU_PARITY_NONE,
	.own = {
		.shape = shape, .cost = hu_pairs16_cost, .emulate = hu_pairs16_emulate,
		.reference = hu_pairs16_reference, .bound = hu_pairs16_bound,
	},
	.contract = &(hu_contract_own){ .map = map, .shape = shape },
};
