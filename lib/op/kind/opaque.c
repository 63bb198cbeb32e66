/* SPDX-License-Identifier: Apache-2.0
   opaque: a call of a recorded step of which only its operands and results are known, such as aten.topk. Nothing
   computes it: its results are judged by no row, and what depends on them is not judged either. */
#include "lib/base/status.h"
#include "lib/op/op.h"

/* The results have the shapes that were recorded. */
static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	(void)c;
	(void)in;
	(void)out;
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost)
{
	(void)c;
	(void)in;
	(void)out;
	(void)cost;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	(void)in;
	(void)out;
	(void)env;
	return hu_fail(HU_EUNABLE,
		"call %d, layer %s: its operator is unknown, so that only its recorded results are known", c->id,
		c->layer);
}

const hu_op hu_op_opaque = {
	.name = "opaque",
	.summary = "a recorded call that nothing computes",
	.min_in = 0,
	.max_in = -1,
	.nout = -1,
	.cls = HU_CLASS_FIXED,
	.role = HU_ROLE_OPAQUE,
	.parity = HU_PARITY_NONE,
	.own = { .shape = shape, .cost = cost, .emulate = emulate },
};
