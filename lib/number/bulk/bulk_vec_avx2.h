/* SPDX-License-Identifier: Apache-2.0
   Vectors of the bulk loops: AVX2. bulk_vec_plain.h says what each operation is. */
#ifndef HU_NUMBER_BULK_VEC_AVX2_H
#define HU_NUMBER_BULK_VEC_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#include "lib/base/inline.h"
#include "lib/number/bulk/bulk_upward.h"

#define INLINE HU_INLINE

typedef __m256i vec;
typedef __m256i mask32, mask64; /* all ones or zeros */

enum { LANES32 = 8, LANES64 = 4 };

INLINE vec load(const void *p) { return _mm256_loadu_si256(p); }
INLINE void store(void *p, vec x) { _mm256_storeu_si256(p, x); }
INLINE void stream(void *p, vec x) { _mm256_stream_si256(p, x); }
INLINE void stream_end(void) { _mm_sfence(); }
INLINE vec zero(void) { return _mm256_setzero_si256(); }
INLINE vec band(vec a, vec b) { return _mm256_and_si256(a, b); }
INLINE vec bor(vec a, vec b) { return _mm256_or_si256(a, b); }
INLINE vec bxor(vec a, vec b) { return _mm256_xor_si256(a, b); }
INLINE vec bandnot(vec a, vec b) { return _mm256_andnot_si256(a, b); }
INLINE vec borand(vec a, vec b, vec c) { return bor(a, band(b, c)); }

/* The mask of the first n < 8 words stands n words before the table's middle. */
INLINE vec first(size_t n)
{
	static const int32_t ones[16] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0 };

	return _mm256_loadu_si256((const __m256i *)(ones + 8 - n));
}
INLINE vec load_part32(const void *p, size_t n) { return _mm256_maskload_epi32(p, first(n)); }
INLINE void store_part32(void *p, vec x, size_t n) { _mm256_maskstore_epi32(p, first(n), x); }
INLINE vec set32(uint64_t x) { return _mm256_set1_epi32((int)x); }
INLINE vec add32(vec a, vec b) { return _mm256_add_epi32(a, b); }
INLINE vec sub32(vec a, vec b) { return _mm256_sub_epi32(a, b); }
INLINE vec sll32(vec a, int n) { return _mm256_sll_epi32(a, _mm_cvtsi32_si128(n)); }
INLINE vec srl32(vec a, int n) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128(n)); }
INLINE mask32 gt32(vec a, vec b) { return _mm256_cmpgt_epi32(a, b); }
INLINE vec least32(vec a, vec b) { return _mm256_min_epi32(a, b); }
INLINE mask32 eq32(vec a, vec b) { return _mm256_cmpeq_epi32(a, b); }
INLINE mask32 neg32(vec a) { return _mm256_srai_epi32(a, 31); }
INLINE mask32
flt32(vec a, vec b)
{
	return _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _CMP_LT_OQ));
}
INLINE mask32 unordered32(vec a, vec b)
{
	return _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _CMP_UNORD_Q));
}
INLINE vec one_nan32(vec a, vec b, vec nan, vec x)
{
	return band(x, bor(nan, _mm256_castps_si256(
					_mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _CMP_ORD_Q))));
}
INLINE vec orif32(mask32 m, vec a, vec b) { return borand(a, m, b); }
INLINE vec sra32(vec a, int n) { return _mm256_sra_epi32(a, _mm_cvtsi32_si128(n)); }
INLINE mask32 both32(mask32 a, mask32 b) { return band(a, b); }
INLINE mask32 either32(mask32 a, mask32 b) { return bor(a, b); }
INLINE mask32 without32(mask32 a, mask32 b) { return bandnot(a, b); }
INLINE vec pick32(mask32 m, vec yes, vec no) { return _mm256_blendv_epi8(no, yes, m); }
INLINE vec keep32(mask32 m, vec x) { return band(m, x); }
INLINE vec clear32(mask32 m, vec x) { return bandnot(m, x); }
INLINE vec addif32(mask32 m, vec a, vec b) { return add32(a, band(m, b)); }
INLINE vec addunless32(mask32 m, vec a, vec b) { return add32(a, bandnot(m, b)); }
INLINE vec inc32(mask32 m, vec a) { return sub32(a, m); }
INLINE vec dec32(mask32 m, vec a) { return add32(a, m); }

#define F32(x) _mm256_castsi256_ps(x)
#define I32(x) _mm256_castps_si256(x)
INLINE vec fadd32(vec a, vec b) { return I32(_mm256_add_ps(F32(a), F32(b))); }
INLINE vec fsub32(vec a, vec b) { return I32(_mm256_sub_ps(F32(a), F32(b))); }
INLINE vec fmul32(vec a, vec b) { return I32(_mm256_mul_ps(F32(a), F32(b))); }
INLINE vec fmin32(vec a, vec b) { return I32(_mm256_min_ps(F32(a), F32(b))); }
INLINE vec fmax32(vec a, vec b) { return I32(_mm256_max_ps(F32(a), F32(b))); }
INLINE vec unsigned_nan32(vec x) { return fmin32(x, set32(0x7f7fffff)); }
INLINE vec whole32(vec x) { return _mm256_cvttps_epi32(F32(x)); }

INLINE vec fmadd_up32(vec a, vec b, vec c) { return I32(_mm256_fmadd_ps(F32(a), F32(b), F32(c))); }
INLINE vec fnmadd_up32(vec a, vec b, vec c) { return I32(_mm256_fnmadd_ps(F32(a), F32(b), F32(c))); }
INLINE vec fnmadd32(vec a, vec b, vec c) { return I32(_mm256_fnmadd_ps(F32(a), F32(b), F32(c))); }
INLINE vec fmsub32(vec a, vec b, vec c) { return I32(_mm256_fmsub_ps(F32(a), F32(b), F32(c))); }
INLINE unsigned signs32(vec x) { return (unsigned)_mm256_movemask_ps(F32(x)); }

INLINE vec load_part64(const void *p, size_t n) { return _mm256_maskload_epi64(p, first(2 * n)); }
INLINE void store_part64(void *p, vec x, size_t n) { _mm256_maskstore_epi64(p, first(2 * n), x); }
INLINE vec set64(uint64_t x) { return _mm256_set1_epi64x((long long)x); }
INLINE vec add64(vec a, vec b) { return _mm256_add_epi64(a, b); }
INLINE vec sub64(vec a, vec b) { return _mm256_sub_epi64(a, b); }
INLINE vec sll64(vec a, int n) { return _mm256_sll_epi64(a, _mm_cvtsi32_si128(n)); }
INLINE vec srl64(vec a, int n) { return _mm256_srl_epi64(a, _mm_cvtsi32_si128(n)); }
INLINE mask64 gt64(vec a, vec b) { return _mm256_cmpgt_epi64(a, b); }
INLINE vec least64(vec a, vec b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }
INLINE mask64 eq64(vec a, vec b) { return _mm256_cmpeq_epi64(a, b); }
INLINE mask64 neg64(vec a) { return _mm256_cmpgt_epi64(zero(), a); }
INLINE mask64
flt64(vec a, vec b)
{
	return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _CMP_LT_OQ));
}
INLINE mask64
fle64(vec a, vec b)
{
	return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _CMP_LE_OQ));
}
INLINE mask64 unordered64(vec a, vec b)
{
	return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _CMP_UNORD_Q));
}
INLINE vec one_nan64(vec a, vec b, vec nan, vec x)
{
	return band(x, bor(nan, _mm256_castpd_si256(
					_mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _CMP_ORD_Q))));
}
INLINE vec orif64(mask64 m, vec a, vec b) { return borand(a, m, b); }
INLINE mask64 both64(mask64 a, mask64 b) { return band(a, b); }
INLINE mask64 either64(mask64 a, mask64 b) { return bor(a, b); }
INLINE mask64 without64(mask64 a, mask64 b) { return bandnot(a, b); }
INLINE vec pick64(mask64 m, vec yes, vec no) { return _mm256_blendv_epi8(no, yes, m); }
INLINE vec keep64(mask64 m, vec x) { return band(m, x); }
INLINE vec clear64(mask64 m, vec x) { return bandnot(m, x); }
INLINE vec addif64(mask64 m, vec a, vec b) { return add64(a, band(m, b)); }
INLINE vec addunless64(mask64 m, vec a, vec b) { return add64(a, bandnot(m, b)); }
INLINE vec inc64(mask64 m, vec a) { return sub64(a, m); }
INLINE vec dec64(mask64 m, vec a) { return add64(a, m); }

#define F64(x) _mm256_castsi256_pd(x)
#define I64(x) _mm256_castpd_si256(x)
INLINE vec fadd64(vec a, vec b) { return I64(_mm256_add_pd(F64(a), F64(b))); }
INLINE vec fsub64(vec a, vec b) { return I64(_mm256_sub_pd(F64(a), F64(b))); }
INLINE vec fmul64(vec a, vec b) { return I64(_mm256_mul_pd(F64(a), F64(b))); }
INLINE vec fmin64(vec a, vec b) { return I64(_mm256_min_pd(F64(a), F64(b))); }
INLINE vec fmax64(vec a, vec b) { return I64(_mm256_max_pd(F64(a), F64(b))); }

INLINE vec words32(const uint32_t *w) { return load(w); }
INLINE vec words64(const uint32_t *w) { return _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)w)); }

INLINE __m128i low_halves(vec x) /* of 32-bit lanes below 2^16 */
{
	return _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}
INLINE void
store8(uint8_t *p, vec x)
{
	_mm_storel_epi64((__m128i *)p, _mm_packus_epi16(low_halves(x), low_halves(x)));
}
INLINE void store16(uint16_t *p, vec x) { _mm_storeu_si128((__m128i *)p, low_halves(x)); }
INLINE vec set16(uint32_t x) { return _mm256_set1_epi16((short)x); }
INLINE vec set8(uint32_t x) { return _mm256_set1_epi8((char)x); }
INLINE vec join16(vec a, vec b) { return _mm256_packs_epi32(a, b); }
INLINE vec join8(vec a, vec b) { return _mm256_packs_epi16(a, b); }
INLINE vec joinu8(vec a, vec b) { return _mm256_packus_epi16(a, b); }
INLINE vec least16(vec a, vec b) { return _mm256_min_epi16(a, b); }
INLINE vec least8(vec a, vec b) { return _mm256_min_epu8(a, b); }
INLINE vec sign16(vec code, vec u, vec high, vec low, vec bit)
{
	return borand(code, band(_mm256_srai_epi16(u, 15), bit), _mm256_cmpgt_epi16(high, low));
}
INLINE vec sign8(vec code, vec u, vec high, vec low, vec bit)
{
	return borand(code, band(_mm256_cmpgt_epi8(zero(), u), bit), _mm256_cmpgt_epi8(high, low));
}
INLINE vec order16(vec x) { return _mm256_permute4x64_epi64(x, 0xd8); }
INLINE vec order8(vec x) { return _mm256_permutevar8x32_epi32(x, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0)); }
INLINE vec load8(const uint8_t *p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)); }
INLINE vec load16(const uint16_t *p) { return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)); }

INLINE vec narrow(const double *p)
{
	return I32(_mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(p + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(p))));
}
INLINE void widen(double *p, vec x)
{
	_mm256_storeu_pd(p, _mm256_cvtps_pd(_mm256_castps256_ps128(F32(x))));
	_mm256_storeu_pd(p + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(F32(x), 1)));
}

/* fp16 as the processor converts it: to nearest even, and subnormals are kept whatever the control register says. */
#define HU_HALF 1
INLINE vec half_round(vec x) { return I32(_mm256_cvtph_ps(_mm256_cvtps_ph(F32(x), _MM_FROUND_TO_NEAREST_INT))); }
INLINE vec half_code(vec x) { return _mm256_cvtepu16_epi32(_mm256_cvtps_ph(F32(x), _MM_FROUND_TO_NEAREST_INT)); }
INLINE vec half_value(vec code) { return I32(_mm256_cvtph_ps(low_halves(code))); }
#endif
