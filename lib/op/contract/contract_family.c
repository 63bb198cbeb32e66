/* SPDX-License-Identifier: Apache-2.0
   The family of contractions: the columns of the table of operators that matmul and the convolutions share. */
#include "lib/op/contract/contract.h"

/* Checks the scales among a call's operands. There are none or, with the attribute scaled, two of one element each,
   third and fourth. */
static hu_status
scales(const hu_call *c, const hu_shape *in)
{
	int scaled = hu_attr_num(c, "scaled", 0) != 0;

	if (c->nin != (scaled ? 4 : 2))
		return hu_fail(HU_EINVAL,
			"%s: %d operands %s scaled=1: two are multiplied, and with scaled=1 two scales follow them",
			c->op->name, c->nin, scaled ? "with" : "without");
	for (int i = 2; i < c->nin; i++)
		if (hu_count(in[i]) != 1)
			return hu_fail(HU_EINVAL, "%s: operand %c has %zu elements where a scale has one", c->op->name,
				'a' + i, hu_count(in[i]));
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(scales(c, in));
	return c->op->contract->shape(c, in, out);
}

const hu_columns hu_family_contract = {
	.shape = shape, .cost = hu_contract_cost, .emulate = hu_contract_emulate, .emulate_some = hu_contract_some,
	.reference = hu_contract_reference, .bound = hu_contract_bound, .enclose = hu_contract_enclose,
	.unit_bound = hu_contract_unit_bound, .workspace = hu_contract_workspace, .magnitude = hu_contract_magnitude,
	.roundings = hu_contract_roundings, .swamping = hu_contract_swamping,
};
