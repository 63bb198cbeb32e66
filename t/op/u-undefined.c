/* SPDX-License-Identifier: Apache-2.0
   Which pointwise operators make infinities or NaN of small finite operands: those whose rows say so (undefined), and
   no others, and of what kind they are. Operands are all combinations of a few numbers around 0, too small to overflow.
 */
#include "lib/base/mem.h"
#include "lib/op/element/pointwise.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double values[] = { -2, -1, -0.5, 0, 0.5, 1, 2 };
enum { VALUES = sizeof values / sizeof *values, MOST = 4 };

/* Counts infinities and NaN among the exact results of output 0. Returns 0 where the operator refuses such operands. */
static int
count(const hu_op *op, int nin, size_t *infinite, size_t *nan)
{
	hu_tensor x[MOST], *in[MOST];
	hu_shape shape[MOST] = { { 0 } }, out[8] = { { 0 } };
	hu_call c = { .op = op, .nin = nin, .nout = op->nout, .fmt = { HU_FP64, HU_FP64, HU_FP64, HU_FP64 } };
	size_t n = 1, step = 1;

	for (int k = 0; k < nin; k++)
		n *= VALUES;
	for (int k = 0; k < nin; k++, step *= VALUES) {
		shape[k] = hu_shape1(n);
		x[k] = op_tensor(HU_FP64, shape[k]);
		in[k] = &x[k];
		for (size_t i = 0; i < n; i++)
			hu_put(&x[k], i, values[i / step % VALUES]);
	}
	*infinite = *nan = 0;
	int runs = hu_op_shape(&c, shape, out) == HU_OK && hu_count(out[0]) == n;
	for (size_t i = 0; i < n && runs; i++) {
		mpfr_t exact[1];
		mpfr_init2(exact[0], 64);
		runs = HU_COLUMN(op, reference)(&c, in, 0, &i, 1, exact) == HU_OK;
		*infinite += runs && mpfr_inf_p(exact[0]);
		*nan += runs && mpfr_nan_p(exact[0]);
		mpfr_clear(exact[0]);
	}
	for (int k = 0; k < nin; k++)
		free(x[k].data);
	return runs;
}

int
main(void)
{
	int tried = 0, undefined = 0;

	for (int i = 0; hu_op_at(i); i++) {
		const hu_op *op = hu_op_at(i);
		size_t infinite, nan;
		if (!op->pointwise || op->min_in > MOST || op->nout != 1 || !HU_COLUMN(op, reference) ||
			!count(op, op->min_in, &infinite, &nan))
			continue;
		int divides = op->undefined & HU_UNDEFINED_DIVISION, domain = op->undefined & HU_UNDEFINED_DOMAIN;
		tried++;
		undefined += op->undefined != 0;
		ok((infinite + nan > 0) == (op->undefined != 0), "%s: %zu infinities and %zu NaN of finite operands",
			op->name, infinite, nan);
		if (divides && domain)
			ok(infinite && nan, "%s: infinities of a division and NaN out of its domain", op->name);
		else if (domain && !divides && strncmp(op->name, "xlogy", 5) && strncmp(op->name, "log", 3))
			ok(nan && !infinite, "%s: NaN out of its domain", op->name);
		if (op->divisor)
			ok(divides && op->divisor <= op->max_in, "%s: it divides by operand %d", op->name, op->divisor);
	}
	ok(tried > 50 && undefined > 8, "%d operators were tried, %d of them may be undefined", tried, undefined);
	return done_testing();
}
