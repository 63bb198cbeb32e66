/* SPDX-License-Identifier: Apache-2.0
   One call of one operator on test data, and its operands and results read back: what the
   tests of operators' values share. */
#ifndef HU_T_OP_VALUES_H
#define HU_T_OP_VALUES_H

#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <math.h>

static const hu_env env = { 11, 3 };

/* Two ways to the same fp64 result: some hundred operations of 2^-53 each. */
static const double near = 0x1p-44;

static inline op_case
run_in(const char *op, const char *attrs, const char *in, const char *out, hu_format_id f)
{
	op_row row = { op, attrs, in, out };
	op_case k;

	if (!hu_op_find(op))
		bail_out("there is no operator %s", op);
	if (op_case_init(&k, &row, f, f, f, LEVEL_MILD, 21) != HU_OK || op_case_emulate(&k, &env) != HU_OK)
		bail_out("%s: %s", op, hu_reason());
	return k;
}

static inline op_case
run(const char *op, const char *attrs, const char *in, const char *out)
{
	return run_in(op, attrs, in, out, HU_FP64);
}

static inline double in_at(const op_case *k, int j, size_t i) { return hu_get(&k->in[j], i); }
static inline double out_at(const op_case *k, int j, size_t i) { return hu_get(&k->out[j], i); }

static inline void
agree(double *worst, double got, double want)
{
	double e = fabs(got - want) / (1 + fabs(want));

	if (!(e <= *worst))
		*worst = e;
}

static inline void
done(op_case *k, double worst, const char *what)
{
	ok(worst <= near, "%s: %s (largest difference %.2g)", k->c.op->name, what, worst);
	op_case_release(k);
}
#endif
