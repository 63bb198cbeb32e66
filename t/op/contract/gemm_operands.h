/* SPDX-License-Identifier: Apache-2.0
   Operands where emulated products go wrong: ties, subnormals, overflow, exponent gaps; and the call of a product. */
#ifndef HU_T_OP_GEMM_OPERANDS_H
#define HU_T_OP_GEMM_OPERANDS_H

#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/op/contract/contract.h"

#include <math.h>
#include <string.h>

static uint64_t counter;

static inline uint32_t
bits(void)
{
	return hu_random_at(20250101, 1, 0, counter++).w[0];
}

/* KIND 0: ordinary; 1: any exponent, subnormals among them; 2: near overflow; 3: small integers; 4: with specials. */
static inline double
value(hu_format f, int kind)
{
	double u = (double)bits() * 0x1p-32, s = bits() & 1 ? -1 : 1;

	if (kind == 1)
		return hu_round(s * ldexp(1 + u, f.emin - f.p + (int)(bits() % (uint32_t)(f.emax - f.emin + f.p))), f,
			HU_RNE, HU_SATURATE, 0);
	if (kind == 2)
		return hu_round(s * f.max * (0.5 + u / 2), f, HU_RZ, 0, 0);
	if (kind == 3)
		return s * (double)(bits() % 8);
	if (kind == 5) /* products about the smallest normal number of fp16, or of a tenth of its precision */
		return hu_round(s * (1 + u) * hu_pow2(-8 - (int)(bits() % 5)), f, HU_RNE, 0, 0);
	if (kind == 6) /* products that are ties of short formats, met by sums far below them */
		return bits() % 3 ? hu_round((double)(1 + bits() % 255), f, HU_RNE, 0, 0) : s * hu_pow2(f.emin / 2);
	if (kind == 4 && bits() % 24 == 0) {
		static const double odd[] = { 0.0, -0.0 };
		uint32_t k = bits() % 5;
		return k < 2 ? odd[k] : k == 2 ? hu_nan_of(f) : hu_round(hu_inf((int)k & 1), f, HU_RNE, 0, 0);
	}
	return hu_round(s * u * hu_pow2((int)(bits() % 20) - 10), f, HU_RNE, 0, 0);
}

static inline hu_tensor
tensor(hu_shape shape, hu_format_id f, int kind)
{
	hu_tensor t = { .format = f,
		.shape = shape,
		.n = hu_count(shape),
		.data = hu_alloc(hu_count(shape) * hu_element_size(f)) };

	for (size_t i = 0; i < t.n && kind >= 0; i++)
		hu_put(&t, i, value(hu_format_of(f), kind));
	return t;
}

static inline hu_call
call_of(const char *op, const char *sum, hu_format_id out, size_t part)
{
	hu_call c = { .op = hu_op_find(op), .nin = 2, .nout = 1 };

	HU_ASSERT(c.op && hu_sum_parse(sum, &c.sum) == HU_OK);
	c.fmt.out = out;
	c.fmt.acc = c.fmt.compute = c.sum.acc;
	strcpy(c.seed_name, "test");
	if (part)
		hu_attr_set(&c, "part", (double)part);
	return c;
}

#endif
