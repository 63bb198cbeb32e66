/* SPDX-License-Identifier: Apache-2.0
   Fast conversion between codes of 1 or 2 bytes and floats, and fast rounding to nearest even: a few integer
   instructions with constants that depend on the format, equal to lib/number's round.h and code.h bit for bit
   (t/cuda/u-cuda-op.c). They support formats whose exponents a float covers and whose codes are those of IEEE 754
   except at the top. Host and device. */
#ifndef HU_CUDA_CODE_H
#define HU_CUDA_CODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "lib/number/code.h"
#ifdef __cplusplus
}
#endif

/* A code's magnitude, shifted left by shift into a float's bits, is the value divided by scale. inf and nan are codes;
   codes with magnitudes from inf_from on are not finite numbers. For rounding: emin and p of the format; wide, if it
   has a float's exponents; the largest finite value max, beyond = 2^(emax+1), and what overflow (over) and NaN (none)
   give. native says which of the shorter conversions at the end of this file have the same results. */
typedef struct hu_coding {
	uint32_t shift, sign, inf, nan, inf_from;
	float scale, unscale;
	int emin, p, wide;
	float max, beyond, over, none;
	int native;
} hu_coding;

enum { HU_CODES_ANY, HU_CODES_HALF, HU_CODES_BRAIN };

/* Returns 1 if the format has fast codes, and fast rounding to nearest even, saturating or not. */
HU_HD int
hu_code_serves(hu_format f)
{
	return (f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_FN || f.special == HU_SPECIAL_FINITE) &&
	       hu_has_subnormals(f) && f.p >= 2 && f.p <= 23 && f.bits <= 32 && f.emin >= -126 && f.emin <= 1 &&
	       f.emax <= 127 && f.emin - f.p + 1 >= -149 && (f.emin == -126 || f.emax + 24 - f.p <= 127);
}

HU_HD hu_coding
hu_coding_of(hu_format f, int flags)
{
	hu_coding q = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

	if (!hu_code_serves(f))
		return q;
	q.shift = (uint32_t)(24 - f.p);
	q.sign = (uint32_t)1 << (f.bits - 1);
	q.nan = (uint32_t)hu_nan_code(f);
	q.inf = hu_has_inf(f) ? (uint32_t)hu_inf_code(f) : q.nan;
	q.inf_from = hu_has_inf(f) ? q.inf : hu_has_nan(f) ? q.nan : 0xffffffffu;
	q.scale = (float)hu_pow2(126 + f.emin);
	q.unscale = (float)hu_pow2(-126 - f.emin);
	q.emin = f.emin;
	q.p = f.p;
	q.wide = f.emin == -126;
	q.max = (float)f.max;
	q.beyond = f.emax >= 127 ? (float)hu_inf(0) : (float)hu_pow2(f.emax + 1);
	q.over = (float)hu_overflow(0, f, HU_RNE, flags);
	q.none = (float)hu_nan_of(f);
	q.native = flags ? HU_CODES_ANY : f.id == HU_FP16 ? HU_CODES_HALF : f.id == HU_BF16 ? HU_CODES_BRAIN : HU_CODES_ANY;
	return q;
}

HU_HD float
hu_code_value(const hu_coding *q, uint32_t code)
{
	uint32_t a = code & (q->sign - 1);
	float x = hu_from_bits32(a << q->shift) * q->scale; /* exact: subnormals become normal */

	if (a >= q->inf_from)
		x = hu_from_bits32(a == q->inf_from && q->inf != q->nan ? 0x7f800000u : 0x7fc00000u);
	return code & q->sign ? -x : x;
}

/* x must be a value of the format. */
HU_HD uint32_t
hu_value_code(const hu_coding *q, float x)
{
	uint32_t u = hu_bits32(x), a = u & 0x7fffffffu, sign = u >> 31 ? q->sign : 0;

	if (a > 0x7f800000u)
		return q->nan;
	if (a == 0x7f800000u)
		return sign | q->inf;
	return sign | hu_bits32(hu_from_bits32(a) * q->unscale) >> q->shift;
}

/* Rounds x to nearest even: with integer operations if the format has a float's exponents, else as hu_short_round
   does. */
HU_HD float
hu_quick_f32(const hu_coding *q, float x)
{
	uint32_t u = hu_bits32(x), sign = u & 0x80000000u, a = u ^ sign, drop = (uint32_t)(24 - q->p), e, least;
	float r, c;

	if (a > 0x7f800000u)
		return q->none;
	if (q->wide) {
		r = hu_from_bits32((a + ((uint32_t)1 << (drop - 1)) - 1 + (a >> drop & 1)) >> drop << drop);
	} else {
		e = a & 0x7f800000u;
		least = (uint32_t)(q->emin + 127) << 23;
		e = e > least ? e : least;
		c = hu_from_bits32(e + (drop << 23));
		r = (hu_from_bits32(a) + c) - c;
	}
	if (!(r <= q->max) || hu_from_bits32(a) >= q->beyond)
		r = q->over;
	return hu_from_bits32(hu_bits32(r) | sign);
}

HU_HD float
hu_quick_f64(const hu_coding *q, double x)
{
	uint64_t u = hu_bits64(x), sign = u & 0x8000000000000000u, e = u & 0x7ff0000000000000u,
		 least = (uint64_t)(q->emin + 1023) << 52;
	double a = hu_from_bits64(u ^ sign), c, r;

	if (a != a)
		return q->none;
	e = e > least ? e : least;
	c = hu_from_bits64(e + ((uint64_t)(53 - q->p) << 52));
	r = (a + c) - c;
	if (!(r <= (double)q->max) || a >= (double)q->beyond)
		r = (double)q->over;
	return (float)hu_from_bits64(hu_bits64(r) | sign);
}

/* fp16 and bf16 without flags, for which devices have an instruction and bf16 needs none. The code functions round x to
   nearest even and encode the result. */
HU_HD float
hu_half_value(const hu_coding *q, uint32_t code)
{
#ifdef __CUDA_ARCH__
	float x;

	(void)q;
	asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)code));
	return x;
#else
	return hu_code_value(q, code);
#endif
}

HU_HD uint32_t
hu_half_code(const hu_coding *q, float x)
{
#ifdef __CUDA_ARCH__
	uint16_t code;

	(void)q;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(x));
	return x != x ? 0x7e00u : code;
#else
	return hu_value_code(q, hu_quick_f32(q, x));
#endif
}

HU_HD float hu_brain_value(uint32_t code) { return hu_from_bits32(code << 16); }

/* Adding just under half of the last place carries into the exponent, up to infinity, where rounding does. */
HU_HD uint32_t
hu_brain_code(float x)
{
	uint32_t u = hu_bits32(x);

	return x != x ? 0x7fc0u : (u + 0x7fffu + (u >> 16 & 1)) >> 16;
}
#endif
