/* SPDX-License-Identifier: Apache-2.0
   Every pointwise operator of one operand on every finite value of fp16 and bf16, computed in fp32: the result is
   within 0.51 ulp of the exact one. Operators that lose more in their order of operations are listed with how many
   results exceed 0.51 ulp. */
#include "lib/base/mem.h"
#include "lib/number/code.h"
#include "lib/op/element/pointwise.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_env env = { 1, 1 };

static const struct { const char *op; size_t fp16, bf16; } loses[] = {
	{ "gelu", 319, 197 }, /* 1 + erf(x / sqrt 2) loses its digits below x = -4 */
	{ "hardswish", 0, 341 }, /* x times 6 overflows in fp32 before it is divided by 6, as in PyTorch */
	{ NULL, 0, 0 },
};

static size_t
allowed(const char *op, hu_format_id f)
{
	for (int i = 0; loses[i].op; i++)
		if (!strcmp(loses[i].op, op))
			return f == HU_FP16 ? loses[i].fp16 : loses[i].bf16;
	return 0;
}

/* The distance of got to exact in ulps of format f at the exact value. */
static double
ulps(double got, const mpfr_t exact, hu_format f)
{
	int e = mpfr_zero_p(exact) ? f.emin : (int)mpfr_get_exp(exact) - 1;
	double d;
	mpfr_t t;

	if (!mpfr_number_p(exact))
		return !mpfr_nan_p(exact) == !isnan(got) && (isnan(got) || got == mpfr_get_d(exact, MPFR_RNDN))
			       ? 0
			       : INFINITY;
	mpfr_init2(t, 128);
	mpfr_abs(t, exact, MPFR_RNDN);
	if (isinf(got)) { /* right if the exact value rounds beyond the largest number */
		d = mpfr_cmp_d(t, f.max + ldexp(0.499, f.emax - f.p + 1)) > 0 ? 0 : INFINITY;
	} else {
		mpfr_sub_d(t, exact, got, MPFR_RNDN);
		d = fabs(ldexp(mpfr_get_d(t, MPFR_RNDA), -((e < f.emin ? f.emin : e) - f.p + 1)));
	}
	mpfr_clear(t);
	return d;
}

static void
all(const hu_op *op, hu_format_id id)
{
	enum { N = 65536, STEP = 512 };
	hu_format f = hu_format_of(id);
	hu_tensor x = op_tensor(id, hu_shape1(N)), y = op_tensor(id, hu_shape1(N)), *in = &x, *out = &y;
	hu_call c = { .op = op, .nin = 1, .nout = 1, .fmt = { id, HU_FP32, HU_FP32, id }, .mode = HU_RNE };
	double worst = 0, at = 0;
	size_t beyond = 0, element[STEP];
	mpfr_t exact[STEP];

	for (size_t i = 0; i < N; i++) {
		double v = hu_decode((uint32_t)i, f);
		hu_put(&x, i, isfinite(v) ? v : 1);
	}
	hu_status st = HU_COLUMN(op, emulate)(&c, &in, &out, &env);
	for (int k = 0; k < STEP; k++)
		mpfr_init2(exact[k], 64);
	for (size_t i = 0; i < N && st == HU_OK; i += STEP) {
		for (size_t k = 0; k < STEP; k++)
			element[k] = i + k;
		st = HU_COLUMN(op, reference)(&c, &in, 0, element, STEP, exact);
		for (size_t k = 0; k < STEP; k++) {
			double e = ulps(hu_get(&y, i + k), exact[k], f);
			beyond += !(e <= 0.51);
			if (!(e <= worst)) {
				worst = e;
				at = hu_get(&x, i + k);
			}
		}
	}
	for (int k = 0; k < STEP; k++)
		mpfr_clear(exact[k]);
	ok(st == HU_OK && beyond <= allowed(op->name, id),
		"%s of every %s: %.4f ulp at most, at %a; %zu beyond 0.51 (%zu allowed)", op->name, hu_format_name(id),
		worst, at, beyond, allowed(op->name, id));
	free(x.data);
	free(y.data);
}

int
main(int argc, char **argv)
{
	for (int i = 0; hu_op_at(i); i++) {
		const hu_op *op = hu_op_at(i);
		if (!hu_pointwise_is_formula(op) || op->max_in != 1 || (argc > 1 && strcmp(argv[1], op->name)))
			continue;
		all(op, HU_FP16);
		all(op, HU_BF16);
	}
	return done_testing();
}
