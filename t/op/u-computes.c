/* SPDX-License-Identifier: Apache-2.0
   Which outputs of an operator depend on the format that it computes in: what hu_op_computes says is compared with what
   the cases of op-cases.def show in fp32 and in fp16. */
#include "t/op/op-case.h"

#include "lib/op/element/map.h"
#include "t/tool/tap.h"

#include <string.h>

/* Returns 1 if output `out` of the case has other values, or another format, where its call computes in fp16. */
static int
differs(const op_row *row, int out, int level, uint64_t seed)
{
	hu_env env = { seed, 1 };
	op_case a, b;
	int other = 0;

	if (op_case_init(&a, row, HU_FP32, HU_FP32, HU_FP32, level, seed) != HU_OK ||
		op_case_init(&b, row, HU_FP32, HU_FP32, HU_FP32, level, seed) != HU_OK)
		bail_out("%s %s: %s", row->op, row->attrs, hu_reason());
	b.c.fmt.compute = HU_FP16;
	if (op_case_emulate(&a, &env) != HU_OK || op_case_emulate(&b, &env) != HU_OK)
		bail_out("%s %s: %s", row->op, row->attrs, hu_reason());
	other = out < a.c.nout && hu_output_format(&a.c, a.pin, out) != hu_output_format(&b.c, b.pin, out);
	for (size_t i = 0; out < a.c.nout && i < a.out[out].n; i++)
		other |= hu_bits64(hu_get(&a.out[out], i)) != hu_bits64(hu_get(&b.out[out], i));
	op_case_release(&a);
	op_case_release(&b);
	return other;
}

int
main(void)
{
	const hu_op *op;

	for (int i = 0; (op = hu_op_at(i)); i++)
		for (int out = 0; out < op->nout; out++) {
			int seen = 0;
			for (int r = 0; op_row_at(r); r++)
				for (int level = LEVEL_MILD; level <= LEVEL_RANGE && !seen; level++)
					for (uint64_t seed = 1; seed <= 2; seed++)
						seen |= !strcmp(op_row_at(r)->op, op->name) &&
							differs(op_row_at(r), out, level, seed);
			ok(seen == hu_op_computes(op, out), "output %d of %s %s", out, op->name,
				seen ? "depends on the format that it computes in" : "is the same in any format");
		}
	return done_testing();
}
