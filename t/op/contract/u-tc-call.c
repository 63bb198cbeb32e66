/* SPDX-License-Identifier: Apache-2.0
   A tensor core inside a call: which accumulators it has, in a policy too, and that its result is
   rounded to the call's own format afterwards, as cuBLAS does under CUBLAS_COMPUTE_32F. */
#include "lib/base/mem.h"
#include "lib/program/pass/pass.h"
#include "lib/program/policy/pass_policy.h"
#include "lib/sum/table/parts.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

/* A product of fp16 matrices in the policy mixed_float16, its sums by MODEL: y = [a ...] [b ...], k long. Returns the
   one output after the call's rounding; ACC: the call's accumulate format. */
static double
product(const char *policy_name, const char *model, const float *a, const float *b, size_t k, hu_format_id *acc)
{
	hu_program *f = hu_program_new("one product"), *p;
	hu_policy policy;
	hu_sum sum;
	double y = -1;
	const hu_env env = { 1, 0 };

	int x = hu_program_tensor(f, "data.x", HU_FP32, hu_shape2(1, k), HU_ACTIVATION),
	    w = hu_program_tensor(f, "dense1.w", HU_FP32, hu_shape2(k, 1), HU_WEIGHT);
	hu_program_apply(
		f, "matmul", HU_FORWARD, "dense1", (int[]){ x, w }, 2, "dense1.y", HU_FP32, HU_ACTIVATION, NULL, 0);
	if (hu_policy_parse(policy_name, &policy) != HU_OK || hu_pass_policy(f, &policy, &p) != HU_OK ||
		hu_sum_parse(model, &sum) != HU_OK)
		bail_out("%s", hu_reason());
	hu_pass_accumulate(p, "*", sum);
	for (int i = 0; i < p->nc; i++) {
		hu_call *c = &p->c[i];
		if (strcmp(c->op->name, "matmul"))
			continue;
		hu_tensor in[2] = {
			{ .format = c->fmt.in, .shape = hu_shape2(1, k), .n = k, .data = (void *)(size_t)a },
			{ .format = c->fmt.in, .shape = hu_shape2(k, 1), .n = k, .data = (void *)(size_t)b }
		};
		float v = -1;
		hu_tensor out = { .format = c->fmt.out, .shape = hu_shape2(1, 1), .n = 1, .data = &v };
		if (HU_COLUMN(c->op, emulate)(c, (hu_tensor *[]){ &in[0], &in[1] },
			    (hu_tensor *[]){ &out }, &env) != HU_OK)
			bail_out("%s", hu_reason());
		*acc = c->fmt.acc;
		y = v;
	}
	hu_program_free(f);
	hu_program_free(p);
	return y;
}

int
main(void)
{
	float a[64], b[64];
	hu_format_id acc;

	/* 2048 and 63 times 1/32: a block's 1/2 is lost beside 2048 in fp16 accumulators, the 63/32 of all in fp32 are
	   rounded to 2 at the end. */
	for (int k = 0; k < 64; k++) {
		a[k] = k ? 0x1p-5f : 2048;
		b[k] = 1;
	}
	is_near(product("mixed_float16", "tc:hopper", a, b, 64, &acc), 2050, 0, "2048 + 63/32 is 2050 by default");
	is_int(acc, HU_FP32, "since mixed_float16 accumulates in fp32");
	is_near(product("mixed_float16", "tc:hopper,out=fp16", a, b, 64, &acc), 2048, 0,
		"and 2048 with fp16 accumulators");
	is_int(acc, HU_FP16, "which the call names");
	is_near(product("mixed_float16", "tc:hopper,out=fp32", a, b, 64, &acc), 2050, 0, "out=fp32 says the default");
	is_near(product("mixed_float16", "fma,acc=fp16", a, b, 64, &acc), 2048, 0, "fma in fp16 loses them too");
	is_near(product("mixed_bfloat16", "tc:ampere", a, b, 64, &acc), 2048, 0,
		"bf16 operands: fp32 accumulators, then bf16");
	is_int(acc, HU_FP32, "mixed_bfloat16 accumulates in fp32");
	is_near(product("float32", "tc:ampere", a, b, 64, &acc), 2048 + 63 * 0x1p-5, 0,
		"float32 operands enter as tf32");
	return done_testing();
}
