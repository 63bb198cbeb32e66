/* SPDX-License-Identifier: Apache-2.0
   Arithmetic in any format but fp32: double operations, each rounded to nearest even as hu_rne in
   lib/op/numeric.h does, and the formulas of lib/op in it. Functions with the suffix _short round in a few
   instructions and support formats that IEEE 754 could have (lib/sum/vector/panel.h derives the constants; fp64 needs
   no rounding). Those with the suffix _plain call hu_rne itself, as a function, and support every format. Host and
   device. */
#ifndef HU_CUDA_SHORT_H
#define HU_CUDA_SHORT_H

#include "cuda/base/launch.h"

extern "C" {
#include "lib/op/element/formula.h"
#include "lib/sum/table/model.h"
}

typedef struct hu_short {
	int native;               /* fp64 */
	uint64_t least,
		/* the exponent field of 2^emin; what turns 2^e into the number whose last bit is worth 2^(e-p+1) */
		shift;
	double max, beyond, over; /* the largest finite value; 2^(emax+1); what overflow gives */
} hu_short;

/* Returns 1 if double's exponents suffice on both sides: 53 more above, TwoSum's error below. */
HU_HD int
hu_short_serves(hu_format f)
{
	return f.id == HU_FP64 ||
	       (f.p <= 25 && f.emax <= 500 && f.emin >= -400 && hu_has_minus_zero(f) && hu_has_nan(f) && !f.flags);
}

HU_HD hu_short
hu_short_of(hu_format f)
{
	hu_short s;

	s.native = f.id == HU_FP64;
	s.least = (uint64_t)(f.emin + 1023) << 52;
	s.shift = (uint64_t)(53 - f.p) << 52;
	s.max = f.max;
	s.beyond = s.native ? hu_inf(0) : hu_pow2(f.emax + 1);
	s.over = hu_has_inf(f) ? hu_inf(0) : hu_nan();
	return s;
}

/* Rounds x to the format by adding and subtracting a number whose last bit is worth as much as the format's at x's
   exponent. A NaN stays a NaN. */
HU_HD double
hu_short_round(const hu_short *s, double x)
{
	uint64_t u = hu_bits64(x), sign = u & 0x8000000000000000u, e = u & 0x7ff0000000000000u;
	double a = hu_from_bits64(u ^ sign), c, q;

	if (s->native)
		return x;
	e = e > s->least ? e : s->least;
	c = hu_from_bits64(e + s->shift);
	q = (a + c) - c;
	q = q > s->max || a >= s->beyond ? s->over : q;
	return hu_from_bits64(hu_bits64(q) | sign);
}

/* a + b rounded once, even if the sum is not a double (hu_add_odd); not for fp64. */
HU_HD double hu_short_add(const hu_short *s, double a, double b) { return hu_short_round(s, hu_add_odd(a, b)); }

typedef struct hu_ctx_short { hu_short f; double k[HU_CONSTANTS]; } hu_ctx_short;

/* These are not inlined, because every operation of a formula calls them. */
HU_HD_CALL double hu_plain_round(const hu_format *f, double x) { return hu_rne(*f, x); }
HU_HD_CALL double hu_exp_plain(double x) { return hu_exp(x); }
HU_HD_CALL double hu_log_plain(double x) { return hu_log(x); }
HU_HD_CALL double hu_erf_plain(double x) { return hu_erf(x); }
HU_HD_CALL double hu_tanh_plain(double x) { return hu_tanh(x); }
HU_HD_CALL double hu_sigmoid_plain(double x) { return hu_sigmoid(x); }
HU_HD_CALL double hu_sin_plain(double x) { return hu_sin(x); }
HU_HD_CALL double hu_cos_plain(double x) { return hu_cos(x); }
HU_HD_CALL double hu_atan2_plain(double y, double x) { return hu_atan2(y, x); }
HU_HD_CALL double hu_rint_plain(double x) { return hu_rint(x); }
HU_HD_CALL double hu_floor_plain(double x) { return hu_floor(x); }
HU_HD_CALL double hu_ceil_plain(double x) { return hu_ceil(x); }
HU_HD_CALL double hu_sign_plain(double x) { return hu_sign(x); }
HU_HD_CALL double hu_expm1_plain(double x) { return hu_expm1(x); }
HU_HD_CALL double hu_log1p_plain(double x) { return hu_log1p(x); }
HU_HD_CALL double hu_rsqrt_plain(double x) { return hu_rsqrt(x); }
HU_HD_CALL double hu_pow_plain(double x, double y) { return hu_pow(x, y); }
HU_HD double hu_sqrt_plain(double x) { return sqrt(x); }

#define HU_TO_SHORT(c, x) hu_short_round(&(c)->f, x)
#define HU_TO_PLAIN(c, x) hu_plain_round(&(c)->f, x)
#define NUMERIC_DEVICE HU_NUMERIC_OF
#include "lib/op/element/numerics.def"

#define HU_S short
#include "lib/op/element/formula.inc"
#define HU_S plain
#include "lib/op/element/formula.inc"
#endif
