/* SPDX-License-Identifier: Apache-2.0
   Turns a row of numerics.def into the functions hu_numeric_add_SUFFIX, _sub_, _mul_, _div_, _neg_, _abs_, _min_,
   _max_, _sqrt_, _exp_, _log_, _erf_, _tanh_, _sigmoid_, _rint_, _floor_, _ceil_, _sign_, _expm1_, _log1p_, _rsqrt_,
   _pow_, _sin_, _cos_, _atan2_, _less_, _equal_ (1 or 0), _pick_, _literal_ (a constant from one double), _literal2_
   (from the sum of two) and _value_ (the double that comparisons look at), which the macros of formula.h call. A
   numeric type is what formulas are computed in; formulas use nothing but these functions, so a row is all
   that a numeric type needs. */
#ifndef HU_OP_ARITHMETIC_H
#define HU_OP_ARITHMETIC_H

#include "lib/op/numeric.h"

HU_HD float hu_sqrt_f32(float x) { return sqrtf(x); }
HU_HD double hu_sqrt(double x) { return sqrt(x); }

/* A zero of either sign gives +0, which a comparison with 0 alone would miss. */
#define HU_ABS_OF(a) ((a) < 0 ? -(a) : (a) == 0 ? 0 : (a))
/* A NaN operand gives NaN. -0 counts as smaller than +0. gcc makes loops over wide registers of a chain of choices, and
   not of conditions joined by ||. */
#define HU_NEGATIVE(a) (hu_bits64((double)(a)) >> 63)
#define HU_OF_EQUAL(a, b, c) ((a) != (a) ? (a) : (b) != (b) ? (b) : (c))
#define HU_MIN_OF(a, b) ((a) < (b) ? (a) : (b) < (a) ? (b) : HU_OF_EQUAL(a, b, HU_NEGATIVE(a) ? (a) : (b)))
#define HU_MAX_OF(a, b) ((a) > (b) ? (a) : (b) > (a) ? (b) : HU_OF_EQUAL(a, b, HU_NEGATIVE(a) ? (b) : (a)))

#define HU_NUMERIC_OF(S, T, C, MATH, ROUNDED, LITERAL, COMPARED)                                                      \
	typedef T hu_number_##S;                                                                                      \
	typedef C hu_context_##S;                                                                                     \
	HU_HD T hu_numeric_literal_##S(const C *c, double x) { return LITERAL(c, (T)x); }                             \
	HU_HD T hu_numeric_literal2_##S(const C *c, double h, double l) { return (void)l, LITERAL(c, (T)h); }         \
	HU_HD T hu_numeric_value_##S(T a) { return a; }                                                               \
	HU_HD T hu_numeric_add_##S(const C *c, T a, T b) { return ROUNDED(c, a + b); }                                \
	HU_HD T hu_numeric_sub_##S(const C *c, T a, T b) { return ROUNDED(c, a - b); }                                \
	HU_HD T hu_numeric_mul_##S(const C *c, T a, T b) { return ROUNDED(c, a * b); }                                \
	HU_HD T hu_numeric_div_##S(const C *c, T a, T b) { return ROUNDED(c, a / b); }                                \
	HU_HD T hu_numeric_neg_##S(const C *c, T a) { return COMPARED(c, -a); }                                       \
	HU_HD T hu_numeric_abs_##S(const C *c, T a) { return COMPARED(c, HU_ABS_OF(a)); }                             \
	HU_HD T hu_numeric_min_##S(const C *c, T a, T b) { return COMPARED(c, HU_MIN_OF(a, b)); }                     \
	HU_HD T hu_numeric_max_##S(const C *c, T a, T b) { return COMPARED(c, HU_MAX_OF(a, b)); }                     \
	HU_HD T hu_numeric_sqrt_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_sqrt, MATH)(a)); }                \
	HU_HD T hu_numeric_exp_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_exp, MATH)(a)); }                  \
	HU_HD T hu_numeric_log_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_log, MATH)(a)); }                  \
	HU_HD T hu_numeric_erf_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_erf, MATH)(a)); }                  \
	HU_HD T hu_numeric_tanh_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_tanh, MATH)(a)); }                \
	HU_HD T hu_numeric_sigmoid_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_sigmoid, MATH)(a)); }          \
	HU_HD T hu_numeric_rint_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_rint, MATH)(a)); }                \
	HU_HD T hu_numeric_floor_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_floor, MATH)(a)); }              \
	HU_HD T hu_numeric_ceil_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_ceil, MATH)(a)); }                \
	HU_HD T hu_numeric_sign_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_sign, MATH)(a)); }                \
	HU_HD T hu_numeric_expm1_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_expm1, MATH)(a)); }              \
	HU_HD T hu_numeric_log1p_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_log1p, MATH)(a)); }              \
	HU_HD T hu_numeric_rsqrt_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_rsqrt, MATH)(a)); }              \
	HU_HD T hu_numeric_pow_##S(const C *c, T a, T b) { return ROUNDED(c, HU_MATH(hu_pow, MATH)(a, b)); }   \
	HU_HD T hu_numeric_sin_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_sin, MATH)(a)); }                  \
	HU_HD T hu_numeric_cos_##S(const C *c, T a) { return ROUNDED(c, HU_MATH(hu_cos, MATH)(a)); }                  \
	HU_HD T hu_numeric_atan2_##S(const C *c, T a, T b) { return ROUNDED(c, HU_MATH(hu_atan2, MATH)(a, b)); }      \
	HU_HD T hu_numeric_less_##S(const C *c, T a, T b) { return ROUNDED(c, (T)(a < b)); }                   \
	HU_HD T hu_numeric_equal_##S(const C *c, T a, T b) { return ROUNDED(c, (T)(a == b)); }                 \
	HU_HD T hu_numeric_pick_##S(const C *c, T y, T a, T b) { return COMPARED(c, !(y <= 0) ? a : b); }
#define HU_MATH(name, MATH) name##MATH

/* The roundings that rows of numerics.def name. */
#define HU_AS_IS(c, x) ((void)(c), x)
#define HU_TO_FORMAT(c, x) hu_rne((c)->f, x)

#define HU_ENCLOSURE_OF(S, T, C, PREFIX, VALUE, APPLY)                                                                \
	typedef T hu_number_##S;                                                                                      \
	typedef C hu_context_##S;                                                                                     \
	HU_HD T hu_numeric_literal_##S(const C *c, double x) { return APPLY(c, PREFIX##_literal, x); }                \
	HU_HD T hu_numeric_literal2_##S(const C *c, double h, double l) { return APPLY(c, PREFIX##_literal2, h, l); } \
	HU_HD double hu_numeric_value_##S(T a) { return a.VALUE; }                                                    \
	HU_HD T hu_numeric_add_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_add, a, b); }                     \
	HU_HD T hu_numeric_sub_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_sub, a, b); }                     \
	HU_HD T hu_numeric_mul_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_mul, a, b); }                     \
	HU_HD T hu_numeric_div_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_div, a, b); }                     \
	HU_HD T hu_numeric_neg_##S(const C *c, T a) { return (void)c, PREFIX##_neg(a); }                              \
	HU_HD T hu_numeric_abs_##S(const C *c, T a) { return (void)c, PREFIX##_abs(a); }                              \
	HU_HD T hu_numeric_min_##S(const C *c, T a, T b) { return (void)c, PREFIX##_min(a, b); }                      \
	HU_HD T hu_numeric_max_##S(const C *c, T a, T b)                                                              \
	{                                                                                                             \
		return (void)c, PREFIX##_neg(PREFIX##_min(PREFIX##_neg(a), PREFIX##_neg(b)));                         \
	}                                                                                                             \
	HU_HD T hu_numeric_sqrt_##S(const C *c, T a) { return APPLY(c, PREFIX##_sqrt, a); }                           \
	HU_HD T hu_numeric_exp_##S(const C *c, T a) { return APPLY(c, PREFIX##_exp, a); }                             \
	HU_HD T hu_numeric_log_##S(const C *c, T a) { return APPLY(c, PREFIX##_log, a); }                             \
	HU_HD T hu_numeric_erf_##S(const C *c, T a) { return APPLY(c, PREFIX##_erf, a); }                             \
	HU_HD T hu_numeric_tanh_##S(const C *c, T a) { return APPLY(c, PREFIX##_tanh, a); }                           \
	HU_HD T hu_numeric_sigmoid_##S(const C *c, T a) { return APPLY(c, PREFIX##_sigmoid, a); }                     \
	HU_HD T hu_numeric_rint_##S(const C *c, T a) { return APPLY(c, PREFIX##_rint, a); }                           \
	HU_HD T hu_numeric_floor_##S(const C *c, T a) { return APPLY(c, PREFIX##_floor, a); }                         \
	HU_HD T hu_numeric_ceil_##S(const C *c, T a) { return APPLY(c, PREFIX##_ceil, a); }                           \
	HU_HD T hu_numeric_sign_##S(const C *c, T a) { return APPLY(c, PREFIX##_sign, a); }                           \
	HU_HD T hu_numeric_expm1_##S(const C *c, T a) { return APPLY(c, PREFIX##_expm1, a); }                         \
	HU_HD T hu_numeric_log1p_##S(const C *c, T a) { return APPLY(c, PREFIX##_log1p, a); }                         \
	HU_HD T hu_numeric_rsqrt_##S(const C *c, T a) { return APPLY(c, PREFIX##_rsqrt, a); }                         \
	HU_HD T hu_numeric_pow_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_pow, a, b); }                     \
	HU_HD T hu_numeric_sin_##S(const C *c, T a) { return APPLY(c, PREFIX##_sin, a); }                             \
	HU_HD T hu_numeric_cos_##S(const C *c, T a) { return APPLY(c, PREFIX##_cos, a); }                             \
	HU_HD T hu_numeric_atan2_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_atan2, a, b); }                 \
	HU_HD T hu_numeric_less_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_less, a, b); }                   \
	HU_HD T hu_numeric_equal_##S(const C *c, T a, T b) { return APPLY(c, PREFIX##_equal, a, b); }                 \
	HU_HD T hu_numeric_pick_##S(const C *c, T y, T a, T b) { return (void)c, PREFIX##_pick(y, a, b); }
#define HU_IN_FORMAT(c, function, ...) function((c)->f, __VA_ARGS__)
#define HU_IN_ITSELF(c, function, ...) ((void)(c), function(__VA_ARGS__))
#endif
