/* SPDX-License-Identifier: Apache-2.0
   Vectors of the bulk loops: AArch64's NEON. bulk_vec_plain.h says what each operation is. */
#ifndef HU_NUMBER_BULK_VEC_NEON_H
#define HU_NUMBER_BULK_VEC_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/inline.h"
#include "lib/number/bulk/bulk_upward.h"

#define INLINE HU_INLINE

typedef uint32x4_t vec;
typedef uint32x4_t mask32, mask64; /* all ones or zeros */

enum { LANES32 = 4, LANES64 = 2 };

#define F32(x) vreinterpretq_f32_u32(x)
#define I32(x) vreinterpretq_u32_f32(x)
#define S32(x) vreinterpretq_s32_u32(x)
#define U64(x) vreinterpretq_u64_u32(x)
#define S64(x) vreinterpretq_s64_u32(x)
#define F64(x) vreinterpretq_f64_u32(x)
#define FROM64(x) vreinterpretq_u32_u64(x)
#define I64(x) vreinterpretq_u32_f64(x)

INLINE vec load(const void *p) { return vreinterpretq_u32_u8(vld1q_u8(p)); }
INLINE void store(void *p, vec x) { vst1q_u8(p, vreinterpretq_u8_u32(x)); }
INLINE void stream(void *p, vec x) { store(p, x); }
INLINE void stream_end(void) { }
INLINE vec zero(void) { return vdupq_n_u32(0); }
INLINE vec band(vec a, vec b) { return vandq_u32(a, b); }
INLINE vec bor(vec a, vec b) { return vorrq_u32(a, b); }
INLINE vec bxor(vec a, vec b) { return veorq_u32(a, b); }
INLINE vec bandnot(vec a, vec b) { return vbicq_u32(b, a); }
INLINE vec borand(vec a, vec b, vec c) { return vorrq_u32(a, vandq_u32(b, c)); }

INLINE vec load_part32(const void *p, size_t n) { vec x = zero(); memcpy(&x, p, 4 * n); return x; }
INLINE void store_part32(void *p, vec x, size_t n) { memcpy(p, &x, 4 * n); }
INLINE vec set32(uint64_t x) { return vdupq_n_u32((uint32_t)x); }
INLINE vec add32(vec a, vec b) { return vaddq_u32(a, b); }
INLINE vec sub32(vec a, vec b) { return vsubq_u32(a, b); }
INLINE vec sll32(vec a, int n) { return vshlq_u32(a, vdupq_n_s32(n)); }
INLINE vec srl32(vec a, int n) { return vshlq_u32(a, vdupq_n_s32(-n)); }
INLINE mask32 gt32(vec a, vec b) { return vcgtq_s32(S32(a), S32(b)); }
INLINE vec least32(vec a, vec b) { return vreinterpretq_u32_s32(vminq_s32(S32(a), S32(b))); }
INLINE mask32 eq32(vec a, vec b) { return vceqq_u32(a, b); }
INLINE mask32 neg32(vec a) { return vcltzq_s32(S32(a)); }
INLINE mask32 flt32(vec a, vec b) { return vcltq_f32(F32(a), F32(b)); }
INLINE mask32
unordered32(vec a, vec b)
{
	return vmvnq_u32(vandq_u32(vceqq_f32(F32(a), F32(a)), vceqq_f32(F32(b), F32(b))));
}
INLINE vec orif32(mask32 m, vec a, vec b) { return borand(a, m, b); }
INLINE vec sra32(vec a, int n) { return vreinterpretq_u32_s32(vshlq_s32(S32(a), vdupq_n_s32(-n))); }
INLINE mask32 both32(mask32 a, mask32 b) { return band(a, b); }
INLINE mask32 either32(mask32 a, mask32 b) { return bor(a, b); }
INLINE mask32 without32(mask32 a, mask32 b) { return bandnot(a, b); }
INLINE vec pick32(mask32 m, vec yes, vec no) { return vbslq_u32(m, yes, no); }
INLINE vec one_nan32(vec a, vec b, vec nan, vec x) { return pick32(unordered32(a, b), nan, x); }
INLINE vec keep32(mask32 m, vec x) { return band(m, x); }
INLINE vec clear32(mask32 m, vec x) { return bandnot(m, x); }
INLINE vec addif32(mask32 m, vec a, vec b) { return add32(a, band(m, b)); }
INLINE vec addunless32(mask32 m, vec a, vec b) { return add32(a, bandnot(m, b)); }
INLINE vec inc32(mask32 m, vec a) { return sub32(a, m); }
INLINE vec dec32(mask32 m, vec a) { return add32(a, m); }
INLINE vec fadd32(vec a, vec b) { return I32(vaddq_f32(F32(a), F32(b))); }
INLINE vec fsub32(vec a, vec b) { return I32(vsubq_f32(F32(a), F32(b))); }
INLINE vec fmul32(vec a, vec b) { return I32(vmulq_f32(F32(a), F32(b))); }
INLINE vec fmin32(vec a, vec b) { return I32(vminq_f32(F32(a), F32(b))); }
INLINE vec fmax32(vec a, vec b) { return I32(vmaxq_f32(F32(a), F32(b))); }
INLINE vec unsigned_nan32(vec x) { return clear32(unordered32(x, x), x); }
INLINE vec whole32(vec x) { return vreinterpretq_u32_s32(vcvtq_s32_f32(F32(x))); }
INLINE vec fmadd_up32(vec a, vec b, vec c) { return I32(vfmaq_f32(F32(c), F32(a), F32(b))); }
INLINE vec fnmadd_up32(vec a, vec b, vec c) { return I32(vfmsq_f32(F32(c), F32(a), F32(b))); }
INLINE vec fnmadd32(vec a, vec b, vec c) { return I32(vfmsq_f32(F32(c), F32(a), F32(b))); }
INLINE vec fmsub32(vec a, vec b, vec c) { return I32(vsubq_f32(vmulq_f32(F32(a), F32(b)), F32(c))); }
INLINE unsigned signs32(vec x)
{
	static const int32_t bit[4] = { 0, 1, 2, 3 };

	return vaddvq_u32(vshlq_u32(vshrq_n_u32(x, 31), vld1q_s32(bit)));
}

INLINE vec load_part64(const void *p, size_t n) { return load_part32(p, 2 * n); }
INLINE void store_part64(void *p, vec x, size_t n) { store_part32(p, x, 2 * n); }
INLINE vec set64(uint64_t x) { return FROM64(vdupq_n_u64(x)); }
INLINE vec add64(vec a, vec b) { return FROM64(vaddq_u64(U64(a), U64(b))); }
INLINE vec sub64(vec a, vec b) { return FROM64(vsubq_u64(U64(a), U64(b))); }
INLINE vec sll64(vec a, int n) { return FROM64(vshlq_u64(U64(a), vdupq_n_s64(n))); }
INLINE vec srl64(vec a, int n) { return FROM64(vshlq_u64(U64(a), vdupq_n_s64(-n))); }
INLINE mask64 gt64(vec a, vec b) { return FROM64(vcgtq_s64(S64(a), S64(b))); }
INLINE vec least64(vec a, vec b) { return vbslq_u32(gt64(a, b), b, a); }
INLINE mask64 eq64(vec a, vec b) { return FROM64(vceqq_u64(U64(a), U64(b))); }
INLINE mask64 neg64(vec a) { return FROM64(vcltzq_s64(S64(a))); }
INLINE mask64 flt64(vec a, vec b) { return FROM64(vcltq_f64(F64(a), F64(b))); }
INLINE mask64 fle64(vec a, vec b) { return FROM64(vcleq_f64(F64(a), F64(b))); }
INLINE mask64
unordered64(vec a, vec b)
{
	return vmvnq_u32(vandq_u32(FROM64(vceqq_f64(F64(a), F64(a))), FROM64(vceqq_f64(F64(b), F64(b)))));
}
INLINE vec one_nan64(vec a, vec b, vec nan, vec x) { return vbslq_u32(unordered64(a, b), nan, x); }
INLINE vec orif64(mask64 m, vec a, vec b) { return borand(a, m, b); }
INLINE mask64 both64(mask64 a, mask64 b) { return band(a, b); }
INLINE mask64 either64(mask64 a, mask64 b) { return bor(a, b); }
INLINE mask64 without64(mask64 a, mask64 b) { return bandnot(a, b); }
INLINE vec pick64(mask64 m, vec yes, vec no) { return vbslq_u32(m, yes, no); }
INLINE vec keep64(mask64 m, vec x) { return band(m, x); }
INLINE vec clear64(mask64 m, vec x) { return bandnot(m, x); }
INLINE vec addif64(mask64 m, vec a, vec b) { return add64(a, band(m, b)); }
INLINE vec addunless64(mask64 m, vec a, vec b) { return add64(a, bandnot(m, b)); }
INLINE vec inc64(mask64 m, vec a) { return sub64(a, m); }
INLINE vec dec64(mask64 m, vec a) { return add64(a, m); }
INLINE vec fadd64(vec a, vec b) { return I64(vaddq_f64(F64(a), F64(b))); }
INLINE vec fsub64(vec a, vec b) { return I64(vsubq_f64(F64(a), F64(b))); }
INLINE vec fmul64(vec a, vec b) { return I64(vmulq_f64(F64(a), F64(b))); }
INLINE vec fmin64(vec a, vec b) { return I64(vminq_f64(F64(a), F64(b))); }
INLINE vec fmax64(vec a, vec b) { return I64(vmaxq_f64(F64(a), F64(b))); }

INLINE vec words32(const uint32_t *w) { return vld1q_u32(w); }
INLINE vec words64(const uint32_t *w) { return FROM64(vmovl_u32(vld1_u32(w))); }

INLINE void store16(uint16_t *p, vec x) { vst1_u16(p, vmovn_u32(x)); }
INLINE void store8(uint8_t *p, vec x)
{
	uint16x4_t h = vmovn_u32(x);
	uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(h, h))), 0);

	memcpy(p, &four, 4);
}
#define S16(x) vreinterpretq_s16_u32(x)
#define S8(x) vreinterpretq_s8_u32(x)
#define U8(x) vreinterpretq_u8_u32(x)
INLINE vec set16(uint32_t x) { return vreinterpretq_u32_u16(vdupq_n_u16((uint16_t)x)); }
INLINE vec set8(uint32_t x) { return vreinterpretq_u32_u8(vdupq_n_u8((uint8_t)x)); }
INLINE vec join16(vec a, vec b) { return vreinterpretq_u32_s16(vcombine_s16(vqmovn_s32(S32(a)), vqmovn_s32(S32(b)))); }
INLINE vec join8(vec a, vec b) { return vreinterpretq_u32_s8(vcombine_s8(vqmovn_s16(S16(a)), vqmovn_s16(S16(b)))); }
INLINE vec joinu8(vec a, vec b) { return vreinterpretq_u32_u8(vcombine_u8(vqmovun_s16(S16(a)), vqmovun_s16(S16(b)))); }
INLINE vec least16(vec a, vec b) { return vreinterpretq_u32_s16(vminq_s16(S16(a), S16(b))); }
INLINE vec least8(vec a, vec b) { return vreinterpretq_u32_u8(vminq_u8(U8(a), U8(b))); }
INLINE vec sign16(vec code, vec u, vec high, vec low, vec bit)
{
	return borand(code, band(vreinterpretq_u32_u16(vcltzq_s16(S16(u))), bit),
		vreinterpretq_u32_u16(vcgtq_s16(S16(high), S16(low))));
}
INLINE vec sign8(vec code, vec u, vec high, vec low, vec bit)
{
	return borand(code, band(vreinterpretq_u32_u8(vcltzq_s8(S8(u))), bit),
		vreinterpretq_u32_u8(vcgtq_s8(S8(high), S8(low))));
}
INLINE vec order16(vec x) { return x; }
INLINE vec order8(vec x) { return x; }
INLINE vec load16(const uint16_t *p) { return vmovl_u16(vld1_u16(p)); }
INLINE vec load8(const uint8_t *p)
{
	uint32_t four;

	memcpy(&four, p, 4);
	return vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)))));
}
INLINE vec
narrow(const double *p)
{
	return I32(vcombine_f32(vcvt_f32_f64(vld1q_f64(p)), vcvt_f32_f64(vld1q_f64(p + 2))));
}
INLINE void widen(double *p, vec x)
{
	vst1q_f64(p, vcvt_f64_f32(vget_low_f32(F32(x))));
	vst1q_f64(p + 2, vcvt_f64_f32(vget_high_f32(F32(x))));
}

#define HU_HALF 0
#endif
