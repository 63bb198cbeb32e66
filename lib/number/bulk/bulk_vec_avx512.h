/* SPDX-License-Identifier: Apache-2.0
   Vectors of the bulk loops: AVX-512. bulk_vec_plain.h says what each operation is. */
#ifndef HU_NUMBER_BULK_VEC_AVX512_H
#define HU_NUMBER_BULK_VEC_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#include "lib/base/inline.h"
#include "lib/number/bulk/bulk_upward.h"

#define INLINE HU_INLINE

typedef __m512i vec;
typedef __mmask16 mask32;
typedef __mmask8 mask64;

enum { LANES32 = 16, LANES64 = 8 };

INLINE vec load(const void *p) { return _mm512_loadu_si512(p); }
INLINE void store(void *p, vec x) { _mm512_storeu_si512(p, x); }
INLINE void stream(void *p, vec x) { _mm512_stream_si512(p, x); }
INLINE void stream_end(void) { _mm_sfence(); }
INLINE vec zero(void) { return _mm512_setzero_si512(); }
INLINE vec band(vec a, vec b) { return _mm512_and_si512(a, b); }
INLINE vec bor(vec a, vec b) { return _mm512_or_si512(a, b); }
INLINE vec bxor(vec a, vec b) { return _mm512_xor_si512(a, b); }
INLINE vec bandnot(vec a, vec b) { return _mm512_andnot_si512(a, b); }
INLINE vec borand(vec a, vec b, vec c) { return _mm512_ternarylogic_epi32(a, b, c, 0xf8); }

INLINE vec load_part32(const void *p, size_t n) { return _mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), p); }
INLINE void store_part32(void *p, vec x, size_t n) { _mm512_mask_storeu_epi32(p, (__mmask16)((1u << n) - 1), x); }
INLINE vec set32(uint64_t x) { return _mm512_set1_epi32((int)x); }
INLINE vec add32(vec a, vec b) { return _mm512_add_epi32(a, b); }
INLINE vec sub32(vec a, vec b) { return _mm512_sub_epi32(a, b); }
INLINE vec sll32(vec a, int n) { return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n)); }
INLINE vec srl32(vec a, int n) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(n)); }
INLINE mask32 gt32(vec a, vec b) { return _mm512_cmpgt_epi32_mask(a, b); }
INLINE vec least32(vec a, vec b) { return _mm512_min_epi32(a, b); }
INLINE mask32 eq32(vec a, vec b) { return _mm512_cmpeq_epi32_mask(a, b); }
INLINE mask32 neg32(vec a) { return _mm512_movepi32_mask(a); }
INLINE mask32
flt32(vec a, vec b)
{
	return _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_LT_OQ);
}
INLINE mask32 drawn32(vec words, vec fraction) { return _mm512_cmplt_epu32_mask(words, fraction); }
INLINE mask32
unordered32(vec a, vec b)
{
	return _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_UNORD_Q);
}
INLINE vec one_nan32(vec a, vec b, vec nan, vec x) { return _mm512_mask_mov_epi32(x, unordered32(a, b), nan); }
INLINE vec orif32(mask32 m, vec a, vec b) { return _mm512_mask_or_epi32(a, m, a, b); }
INLINE vec sra32(vec a, int n) { return _mm512_sra_epi32(a, _mm_cvtsi32_si128(n)); }
INLINE mask32 both32(mask32 a, mask32 b) { return (mask32)(a & b); }
INLINE mask32 either32(mask32 a, mask32 b) { return (mask32)(a | b); }
INLINE mask32 without32(mask32 a, mask32 b) { return (mask32)(~a & b); }
INLINE vec pick32(mask32 m, vec yes, vec no) { return _mm512_mask_mov_epi32(no, m, yes); }
INLINE vec keep32(mask32 m, vec x) { return _mm512_maskz_mov_epi32(m, x); }
INLINE vec clear32(mask32 m, vec x) { return _mm512_maskz_mov_epi32((mask32)~m, x); }
INLINE vec addif32(mask32 m, vec a, vec b) { return _mm512_mask_add_epi32(a, m, a, b); }
INLINE vec addunless32(mask32 m, vec a, vec b) { return _mm512_mask_add_epi32(a, (mask32)~m, a, b); }
INLINE vec inc32(mask32 m, vec a) { return _mm512_mask_sub_epi32(a, m, a, _mm512_set1_epi32(-1)); }
INLINE vec dec32(mask32 m, vec a) { return _mm512_mask_add_epi32(a, m, a, _mm512_set1_epi32(-1)); }

#define F32(x) _mm512_castsi512_ps(x)
#define I32(x) _mm512_castps_si512(x)
INLINE vec fadd32(vec a, vec b) { return I32(_mm512_add_ps(F32(a), F32(b))); }
INLINE vec fsub32(vec a, vec b) { return I32(_mm512_sub_ps(F32(a), F32(b))); }
INLINE vec fmul32(vec a, vec b) { return I32(_mm512_mul_ps(F32(a), F32(b))); }
INLINE vec fmin32(vec a, vec b) { return I32(_mm512_min_ps(F32(a), F32(b))); }
INLINE vec fmax32(vec a, vec b) { return I32(_mm512_max_ps(F32(a), F32(b))); }
INLINE vec
fadd_down32(vec a, vec b)
{
	return I32(_mm512_add_round_ps(F32(a), F32(b), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
INLINE vec
fadd_up32(vec a, vec b)
{
	return I32(_mm512_add_round_ps(F32(a), F32(b), _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
}
INLINE vec unsigned_nan32(vec x) { return fmin32(x, set32(0x7f7fffff)); }
INLINE vec whole32(vec x) { return _mm512_cvttps_epu32(F32(x)); }
#define HU_ADD_DIRECTED 1

#define UP (_MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
INLINE vec fmadd_up32(vec a, vec b, vec c) { return I32(_mm512_fmadd_round_ps(F32(a), F32(b), F32(c), UP)); }
INLINE vec fnmadd_up32(vec a, vec b, vec c) { return I32(_mm512_fnmadd_round_ps(F32(a), F32(b), F32(c), UP)); }
INLINE vec fnmadd32(vec a, vec b, vec c) { return I32(_mm512_fnmadd_ps(F32(a), F32(b), F32(c))); }
INLINE vec fmsub32(vec a, vec b, vec c) { return I32(_mm512_fmsub_ps(F32(a), F32(b), F32(c))); }
INLINE unsigned signs32(vec x) { return _mm512_movepi32_mask(x); }
#undef UP

INLINE vec load_part64(const void *p, size_t n) { return _mm512_maskz_loadu_epi64((__mmask8)((1u << n) - 1), p); }
INLINE void store_part64(void *p, vec x, size_t n) { _mm512_mask_storeu_epi64(p, (__mmask8)((1u << n) - 1), x); }
INLINE vec set64(uint64_t x) { return _mm512_set1_epi64((long long)x); }
INLINE vec add64(vec a, vec b) { return _mm512_add_epi64(a, b); }
INLINE vec sub64(vec a, vec b) { return _mm512_sub_epi64(a, b); }
INLINE vec sll64(vec a, int n) { return _mm512_sll_epi64(a, _mm_cvtsi32_si128(n)); }
INLINE vec srl64(vec a, int n) { return _mm512_srl_epi64(a, _mm_cvtsi32_si128(n)); }
INLINE mask64 gt64(vec a, vec b) { return _mm512_cmpgt_epi64_mask(a, b); }
INLINE vec least64(vec a, vec b) { return _mm512_min_epi64(a, b); }
INLINE mask64 eq64(vec a, vec b) { return _mm512_cmpeq_epi64_mask(a, b); }
INLINE mask64 neg64(vec a) { return _mm512_movepi64_mask(a); }
INLINE mask64
flt64(vec a, vec b)
{
	return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_LT_OQ);
}
INLINE mask64
fle64(vec a, vec b)
{
	return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_LE_OQ);
}
INLINE mask64
unordered64(vec a, vec b)
{
	return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_UNORD_Q);
}
INLINE vec one_nan64(vec a, vec b, vec nan, vec x) { return _mm512_mask_mov_epi64(x, unordered64(a, b), nan); }
INLINE vec orif64(mask64 m, vec a, vec b) { return _mm512_mask_or_epi64(a, m, a, b); }
INLINE mask64 both64(mask64 a, mask64 b) { return (mask64)(a & b); }
INLINE mask64 either64(mask64 a, mask64 b) { return (mask64)(a | b); }
INLINE mask64 without64(mask64 a, mask64 b) { return (mask64)(~a & b); }
INLINE vec pick64(mask64 m, vec yes, vec no) { return _mm512_mask_mov_epi64(no, m, yes); }
INLINE vec keep64(mask64 m, vec x) { return _mm512_maskz_mov_epi64(m, x); }
INLINE vec clear64(mask64 m, vec x) { return _mm512_maskz_mov_epi64((mask64)~m, x); }
INLINE vec addif64(mask64 m, vec a, vec b) { return _mm512_mask_add_epi64(a, m, a, b); }
INLINE vec addunless64(mask64 m, vec a, vec b) { return _mm512_mask_add_epi64(a, (mask64)~m, a, b); }
INLINE vec inc64(mask64 m, vec a) { return _mm512_mask_sub_epi64(a, m, a, _mm512_set1_epi64(-1)); }
INLINE vec dec64(mask64 m, vec a) { return _mm512_mask_add_epi64(a, m, a, _mm512_set1_epi64(-1)); }

#define F64(x) _mm512_castsi512_pd(x)
#define I64(x) _mm512_castpd_si512(x)
INLINE vec fadd64(vec a, vec b) { return I64(_mm512_add_pd(F64(a), F64(b))); }
INLINE vec fsub64(vec a, vec b) { return I64(_mm512_sub_pd(F64(a), F64(b))); }
INLINE vec fmul64(vec a, vec b) { return I64(_mm512_mul_pd(F64(a), F64(b))); }
INLINE vec fmin64(vec a, vec b) { return I64(_mm512_min_pd(F64(a), F64(b))); }
INLINE vec fmax64(vec a, vec b) { return I64(_mm512_max_pd(F64(a), F64(b))); }
INLINE vec
fadd_down64(vec a, vec b)
{
	return I64(_mm512_add_round_pd(F64(a), F64(b), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
INLINE vec
fadd_up64(vec a, vec b)
{
	return I64(_mm512_add_round_pd(F64(a), F64(b), _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
}

INLINE vec words32(const uint32_t *w) { return load(w); }
INLINE vec words64(const uint32_t *w) { return _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)w)); }

INLINE void store8(uint8_t *p, vec x) { _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(x)); }
INLINE void store16(uint16_t *p, vec x) { _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(x)); }
INLINE vec set16(uint32_t x) { return _mm512_set1_epi16((short)x); }
INLINE vec set8(uint32_t x) { return _mm512_set1_epi8((char)x); }
INLINE vec join16(vec a, vec b) { return _mm512_packs_epi32(a, b); }
INLINE vec join8(vec a, vec b) { return _mm512_packs_epi16(a, b); }
INLINE vec joinu8(vec a, vec b) { return _mm512_packus_epi16(a, b); }
INLINE vec least16(vec a, vec b) { return _mm512_min_epi16(a, b); }
INLINE vec least8(vec a, vec b) { return _mm512_min_epu8(a, b); }
INLINE vec sign16(vec code, vec u, vec high, vec low, vec bit)
{
	return _mm512_mask_blend_epi16(
		_mm512_mask_cmpgt_epi16_mask(_mm512_movepi16_mask(u), high, low), code, _mm512_or_si512(code, bit));
}
INLINE vec sign8(vec code, vec u, vec high, vec low, vec bit)
{
	return _mm512_mask_blend_epi8(
		_mm512_mask_cmpgt_epi8_mask(_mm512_movepi8_mask(u), high, low), code, _mm512_or_si512(code, bit));
}
INLINE vec order16(vec x) { return _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), x); }
INLINE vec
order8(vec x)
{
	return _mm512_permutexvar_epi32(_mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0), x);
}
INLINE vec load8(const uint8_t *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)); }
INLINE vec load16(const uint16_t *p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)); }

/* Convert 2 x LANES64 doubles at p to LANES32 floats, and back. */
INLINE vec narrow(const double *p)
{
	__m256 low = _mm512_cvtpd_ps(_mm512_loadu_pd(p)), high = _mm512_cvtpd_ps(_mm512_loadu_pd(p + 8));

	return I32(_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1));
}
INLINE void widen(double *p, vec x)
{
	_mm512_storeu_pd(p, _mm512_cvtps_pd(_mm512_castps512_ps256(F32(x))));
	_mm512_storeu_pd(p + 8, _mm512_cvtps_pd(_mm512_extractf32x8_ps(F32(x), 1)));
}

/* fp16 as the processor converts it: to nearest even, and subnormals are kept whatever the control register says. */
#define HU_HALF 1
INLINE vec
half_round(vec x)
{
	return I32(_mm512_cvtph_ps(_mm512_cvtps_ph(F32(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
}
INLINE vec
half_code(vec x)
{
	return _mm512_cvtepu16_epi32(_mm512_cvtps_ph(F32(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
INLINE vec half_value(vec code) { return I32(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(code))); }
#endif
