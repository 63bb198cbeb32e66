/* SPDX-License-Identifier: Apache-2.0
   formula.inc in every carrier: hu_NAME_f32, _f64, _any, _run; and, on the host, _dd and _count. */
#ifndef HU_OP_FORMULA_H
#define HU_OP_FORMULA_H

#include "lib/op/element/carrier.h"
#ifndef __cplusplus
#include "lib/op/element/dd.h"
#endif

#define HU_T float
#define HU_C hu_ctx_f32
#define HU_N(name) name##_f32
#define HU_K(c, x) ((void)(c), (float)(x))
#define HU_L(c, h, l) HU_K(c, h)
#define HU_V(a) (a)
#define HU_ADD(c, a, b) ((void)(c), (a) + (b))
#define HU_SUB(c, a, b) ((void)(c), (a) - (b))
#define HU_MUL(c, a, b) ((void)(c), (a) * (b))
#define HU_DIV(c, a, b) ((void)(c), (a) / (b))
#define HU_NEG(a) (-(a))
#define HU_SQRT(c, a) sqrtf(a)
#define HU_EXP(c, a) hu_exp_f32(a)
#define HU_LOG(c, a) hu_log_f32(a)
#define HU_ERF(c, a) hu_erf_f32(a)
#define HU_TANH(c, a) hu_tanh_f32(a)
#define HU_PICK(y, a, b) (!((y) <= 0) ? (a) : (b))
#include "lib/op/element/formula.inc"
#include "lib/op/element/formula_undef.inc"

#define HU_T double
#define HU_C hu_ctx_f64
#define HU_N(name) name##_f64
#define HU_K(c, x) ((void)(c), (double)(x))
#define HU_L(c, h, l) HU_K(c, h)
#define HU_V(a) (a)
#define HU_ADD(c, a, b) ((void)(c), (a) + (b))
#define HU_SUB(c, a, b) ((void)(c), (a) - (b))
#define HU_MUL(c, a, b) ((void)(c), (a) * (b))
#define HU_DIV(c, a, b) ((void)(c), (a) / (b))
#define HU_NEG(a) (-(a))
#define HU_SQRT(c, a) sqrt(a)
#define HU_EXP(c, a) hu_exp(a)
#define HU_LOG(c, a) hu_log(a)
#define HU_ERF(c, a) hu_erf(a)
#define HU_TANH(c, a) hu_tanh(a)
#define HU_PICK(y, a, b) (!((y) <= 0) ? (a) : (b))
#include "lib/op/element/formula.inc"
#include "lib/op/element/formula_undef.inc"

#define HU_T double
#define HU_C hu_ctx_f64
#define HU_N(name) name##_any
#define HU_K(c, x) hu_rne((c)->f, x)
#define HU_L(c, h, l) HU_K(c, h)
#define HU_V(a) (a)
#define HU_ADD(c, a, b) hu_rne((c)->f, (a) + (b))
#define HU_SUB(c, a, b) hu_rne((c)->f, (a) - (b))
#define HU_MUL(c, a, b) hu_rne((c)->f, (a) * (b))
#define HU_DIV(c, a, b) hu_rne((c)->f, (a) / (b))
#define HU_NEG(a) (-(a))
#define HU_SQRT(c, a) hu_rne((c)->f, sqrt(a))
#define HU_EXP(c, a) hu_rne((c)->f, hu_exp(a))
#define HU_LOG(c, a) hu_rne((c)->f, hu_log(a))
#define HU_ERF(c, a) hu_rne((c)->f, hu_erf(a))
#define HU_TANH(c, a) hu_rne((c)->f, hu_tanh(a))
#define HU_PICK(y, a, b) (!((y) <= 0) ? (a) : (b))
#include "lib/op/element/formula.inc"
#include "lib/op/element/formula_undef.inc"

#define HU_T hu_bounded
#define HU_C hu_ctx_bounded
#define HU_N(name) name##_run
#define HU_K(c, x) hu_bounded_literal((c)->f, x)
#define HU_L(c, h, l) HU_K(c, h)
#define HU_V(a) ((a).v)
#define HU_ADD(c, a, b) hu_bounded_add((c)->f, a, b)
#define HU_SUB(c, a, b) hu_bounded_add((c)->f, a, hu_bounded_neg(b))
#define HU_MUL(c, a, b) hu_bounded_mul((c)->f, a, b)
#define HU_DIV(c, a, b) hu_bounded_div((c)->f, a, b)
#define HU_NEG(a) hu_bounded_neg(a)
#define HU_SQRT(c, a) hu_bounded_sqrt((c)->f, a)
#define HU_EXP(c, a) hu_bounded_exp((c)->f, a)
#define HU_LOG(c, a) hu_bounded_log((c)->f, a)
#define HU_ERF(c, a) hu_bounded_erf((c)->f, a)
#define HU_TANH(c, a) hu_bounded_tanh((c)->f, a)
#define HU_PICK(y, a, b) hu_bounded_pick(y, a, b)
#include "lib/op/element/formula.inc"
#include "lib/op/element/formula_undef.inc"

#ifndef __cplusplus
#define HU_T hu_dd
#define HU_C hu_ctx_dd
#define HU_N(name) name##_dd
#define HU_K(c, x) ((void)(c), hu_dd_of(x))
#define HU_L(c, h, l) ((void)(c), hu_dd_literal(h, l))
#define HU_V(a) ((a).h)
#define HU_ADD(c, a, b) ((void)(c), hu_dd_add(a, b))
#define HU_SUB(c, a, b) ((void)(c), hu_dd_sub(a, b))
#define HU_MUL(c, a, b) ((void)(c), hu_dd_mul(a, b))
#define HU_DIV(c, a, b) ((void)(c), hu_dd_div(a, b))
#define HU_NEG(a) hu_dd_neg(a)
#define HU_SQRT(c, a) ((void)(c), hu_dd_sqrt(a))
#define HU_EXP(c, a) ((void)(c), hu_dd_exp(a))
#define HU_LOG(c, a) ((void)(c), hu_dd_log(a))
#define HU_ERF(c, a) ((void)(c), hu_dd_erf(a))
#define HU_TANH(c, a) ((void)(c), hu_dd_tanh(a))
#define HU_PICK(y, a, b) hu_dd_pick(y, a, b)
#include "lib/op/element/formula.inc"
#include "lib/op/element/formula_undef.inc"

/* A double, each of whose operations is counted: what plans say is held to it (performed.h). */
typedef struct hu_ctx_count { double k[HU_CONSTANTS]; } hu_ctx_count;
static _Thread_local uint64_t hu_operations;

/* Counts one operation. It is a call and no ++ in the expression, because an expression's operands are unsequenced. */
static inline __attribute__((unused)) void
hu_operation(void)
{
	hu_operations++;
}

#define HU_T double
#define HU_C hu_ctx_count
#define HU_N(name) name##_count
#define HU_K(c, x) ((void)(c), (double)(x))
#define HU_L(c, h, l) HU_K(c, h)
#define HU_V(a) (a)
#define HU_ADD(c, a, b) ((void)(c), hu_operation(), (a) + (b))
#define HU_SUB(c, a, b) ((void)(c), hu_operation(), (a) - (b))
#define HU_MUL(c, a, b) ((void)(c), hu_operation(), (a) * (b))
#define HU_DIV(c, a, b) ((void)(c), hu_operation(), (a) / (b))
#define HU_NEG(a) (-(a))
#define HU_SQRT(c, a) (hu_operation(), sqrt(a))
#define HU_EXP(c, a) (hu_operation(), hu_exp(a))
#define HU_LOG(c, a) (hu_operation(), hu_log(a))
#define HU_ERF(c, a) (hu_operation(), hu_erf(a))
#define HU_TANH(c, a) (hu_operation(), hu_tanh(a))
#define HU_PICK(y, a, b) (hu_operation(), !((y) <= 0) ? (a) : (b))
#include "lib/op/element/formula.inc"
#include "lib/op/element/formula_undef.inc"
#endif
#endif
