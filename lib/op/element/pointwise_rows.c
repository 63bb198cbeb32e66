/* SPDX-License-Identifier: Apache-2.0
   Makes an hu_op of each row of pointwise.def. */
#include "lib/op/element/pointwise.h"

#define RN MPFR_RNDN
#define SCRATCH(t)                                                                                                     \
	mpfr_t t;                                                                                                      \
	mpfr_init2(t, mpfr_get_prec(y))
#define NO_KEYS (NULL, 0)
#define KEY_NAMES(names, ...) names
#define KEY_VALUES(names, ...) { __VA_ARGS__ }
#define NO_GRAD
#define GRAD(op, operands, results) { op, operands, results, NULL, NULL },
#define PLAIN
#define SAME .same = "=",
#define FLOAT32 .float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
#define TOTAL .undefined = 0,
#define DIVIDES(by) .undefined = HU_UNDEFINED_DIVISION, .divisor = by,
#define RANGE .undefined = HU_UNDEFINED_DOMAIN,
#define DIVIDES_IN_RANGE(by) .undefined = HU_UNDEFINED_DIVISION | HU_UNDEFINED_DOMAIN, .divisor = by,

/* The exact function of a row sees its operands by the names that its formula has for them. */
#define OPERANDS1 mpfr_srcptr a = x[0]
#define OPERANDS2 mpfr_srcptr a = x[0], b = x[1]
#define OPERANDS3 mpfr_srcptr a = x[0], b = x[1], d = x[2]
#define READ1 (void)a
#define READ2 (void)a, (void)b
#define READ3 (void)a, (void)b, (void)d
#define EACH1 { HU_EACH }
#define EACH2 { HU_EACH, HU_EACH }
#define EACH3 { HU_EACH, HU_EACH, HU_EACH }

#define POINTWISE(NAME, N, FORMULA, FLOPS, SUMMARY, KEYS, GRADIENTS, LISTS, UNDEFINED, ...)                            \
	static void exact_##NAME(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)                                  \
	{                                                                                                              \
		OPERANDS##N;                                                                                           \
		(void)k, (void)out, READ##N;                                                                           \
		__VA_ARGS__;                                                                                           \
	}                                                                                                              \
	static const hu_grad grad_##NAME[] = { GRADIENTS { NULL, NULL, NULL, NULL, NULL } };                           \
	static const hu_pointwise pointwise_##NAME = {                                                                 \
		.how = EACH##N,                                                                                        \
		.form = { { HU_FORMULA_##NAME, exact_##NAME, FLOPS } },                                                \
		.constants = hu_pointwise_keys,                                                                        \
		.usual = KEY_VALUES KEYS,                                                                              \
	};                                                                                                             \
	const hu_op hu_op_##NAME = {                                                                                   \
		.name = #NAME, .summary = SUMMARY, .min_in = N, .max_in = N, .nout = 1, .attrs = KEY_NAMES KEYS,       \
		.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT, LISTS UNDEFINED                                  \
		.family = &hu_family_pointwise, .pointwise = &pointwise_##NAME,                                        \
		.grad = sizeof grad_##NAME / sizeof *grad_##NAME > 1 ? grad_##NAME : NULL,                             \
	};
#include "lib/op/pointwise.def"
