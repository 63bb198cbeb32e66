/* SPDX-License-Identifier: Apache-2.0
   Vectors of the bulk loops in the compiler's own terms: 16 bytes, whatever the processor makes of them. A few
   operations that x86-64's baseline (SSE2) has and the vector extension lacks are intrinsics. The other files
   bulk_vec_*.h have the same operations. */
#ifndef HU_NUMBER_BULK_VEC_PLAIN_H
#define HU_NUMBER_BULK_VEC_PLAIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "lib/base/inline.h"
#include "lib/number/bulk/bulk_upward.h"

#define INLINE HU_INLINE

typedef uint32_t vec __attribute__((vector_size(16)));
typedef vec mask32, mask64; /* all ones or zeros */
typedef int32_t signed32 __attribute__((vector_size(16)));
typedef int64_t signed64 __attribute__((vector_size(16)));
typedef uint64_t unsigned64 __attribute__((vector_size(16)));
typedef int16_t signed16 __attribute__((vector_size(16)));
typedef uint16_t unsigned16 __attribute__((vector_size(16)));
typedef int8_t signed8 __attribute__((vector_size(16)));
typedef uint8_t unsigned8 __attribute__((vector_size(16)));
typedef float float32 __attribute__((vector_size(16)));
typedef double float64 __attribute__((vector_size(16)));

enum { LANES32 = 4, LANES64 = 2 };

INLINE vec load(const void *p) { vec x; memcpy(&x, p, 16); return x; }
INLINE void store(void *p, vec x) { memcpy(p, &x, 16); }
#if defined(__SSE2__)
INLINE void stream(void *p, vec x) { _mm_stream_si128(p, (__m128i)x); }
INLINE void stream_end(void) { _mm_sfence(); }
#else
INLINE void stream(void *p, vec x) { store(p, x); }
INLINE void stream_end(void) { }
#endif
INLINE vec zero(void) { return (vec){ 0 }; }
INLINE vec band(vec a, vec b) { return a & b; }
INLINE vec bor(vec a, vec b) { return a | b; }
INLINE vec bxor(vec a, vec b) { return a ^ b; }
INLINE vec bandnot(vec a, vec b) { return ~a & b; }
INLINE vec borand(vec a, vec b, vec c) { return a | (b & c); }
INLINE vec pick(vec m, vec yes, vec no) { return (m & yes) | (~m & no); }

INLINE vec load_part32(const void *p, size_t n) { vec x = { 0 }; memcpy(&x, p, 4 * n); return x; }
INLINE void store_part32(void *p, vec x, size_t n) { memcpy(p, &x, 4 * n); }
INLINE vec set32(uint64_t x) { uint32_t u = (uint32_t)x; return (vec){ u, u, u, u }; }
INLINE vec add32(vec a, vec b) { return a + b; }
INLINE vec sub32(vec a, vec b) { return a - b; }
#if defined(__SSE2__) /* one count for all lanes, which the extension would copy to each */
INLINE vec sll32(vec a, int n) { return (vec)_mm_sll_epi32((__m128i)a, _mm_cvtsi32_si128(n)); }
INLINE vec srl32(vec a, int n) { return (vec)_mm_srl_epi32((__m128i)a, _mm_cvtsi32_si128(n)); }
#else
INLINE vec sll32(vec a, int n) { return a << n; }
INLINE vec srl32(vec a, int n) { return a >> n; }
#endif
INLINE mask32 gt32(vec a, vec b) { return (mask32)((signed32)a > (signed32)b); }
INLINE vec least32(vec a, vec b) { return pick(gt32(a, b), b, a); }
INLINE mask32 eq32(vec a, vec b) { return (mask32)(a == b); }
INLINE mask32 neg32(vec a) { return (mask32)((signed32)a >> 31); }
INLINE mask32 flt32(vec a, vec b) { return (mask32)((float32)a < (float32)b); }
INLINE vec orif32(mask32 m, vec a, vec b) { return a | (m & b); }
/* one_nan32 returns x, or nan in lanes where a or b is NaN; there x must have all of nan's bits set. */
#if defined(__SSE2__)
INLINE mask32 unordered32(vec a, vec b) { return (mask32)_mm_cmpunord_ps((__m128)a, (__m128)b); }
INLINE vec one_nan32(vec a, vec b, vec nan, vec x) { return x & (nan | (vec)_mm_cmpord_ps((__m128)a, (__m128)b)); }
INLINE vec sra32(vec a, int n) { return (vec)_mm_sra_epi32((__m128i)a, _mm_cvtsi32_si128(n)); }
#else
INLINE mask32
unordered32(vec a, vec b)
{
	return (mask32)((float32)a != (float32)a) | (mask32)((float32)b != (float32)b);
}
INLINE vec one_nan32(vec a, vec b, vec nan, vec x) { return x & (nan | ~unordered32(a, b)); }
INLINE vec sra32(vec a, int n) { return (vec)((signed32)a >> n); }
#endif
INLINE mask32 both32(mask32 a, mask32 b) { return a & b; }
INLINE mask32 either32(mask32 a, mask32 b) { return a | b; }
INLINE mask32 without32(mask32 a, mask32 b) { return ~a & b; }
INLINE vec pick32(mask32 m, vec yes, vec no) { return pick(m, yes, no); }
INLINE vec keep32(mask32 m, vec x) { return m & x; }
INLINE vec clear32(mask32 m, vec x) { return ~m & x; }
INLINE vec addif32(mask32 m, vec a, vec b) { return a + (m & b); }
INLINE vec addunless32(mask32 m, vec a, vec b) { return a + (~m & b); }
INLINE vec inc32(mask32 m, vec a) { return a - m; }
INLINE vec dec32(mask32 m, vec a) { return a + m; }
INLINE vec fadd32(vec a, vec b) { return (vec)((float32)a + (float32)b); }
INLINE vec fsub32(vec a, vec b) { return (vec)((float32)a - (float32)b); }
INLINE vec fmul32(vec a, vec b) { return (vec)((float32)a * (float32)b); }
#if defined(__SSE2__)
INLINE vec fmin32(vec a, vec b) { return (vec)_mm_min_ps((__m128)a, (__m128)b); }
INLINE vec fmax32(vec a, vec b) { return (vec)_mm_max_ps((__m128)a, (__m128)b); }
INLINE vec whole32(vec x) { return (vec)_mm_cvttps_epi32((__m128)x); } /* signed */
#else
INLINE vec fmin32(vec a, vec b) { return pick(flt32(a, b), a, b); }
INLINE vec fmax32(vec a, vec b) { return pick(flt32(b, a), a, b); }
INLINE vec whole32(vec x)
{
	float32 f = (float32)x;
	vec r;

	for (int i = 0; i < LANES32; i++)
		r[i] = f[i] >= -0x1p31f && f[i] < 0x1p31f ? (uint32_t)(int32_t)f[i]
							  : 0; /* larger numbers are thrown away */
	return r;
}
#endif
/* fmadd_up32 is a b + c and fnmadd_up32 is c - a b, rounded upward between `upward` and `restore`; the product must
   be exact. fnmadd32 and fmsub32 (a b - c) must be exact, or only their sign may matter. */
INLINE vec fmadd_up32(vec a, vec b, vec c) { return fadd32(fmul32(a, b), c); }
INLINE vec fnmadd_up32(vec a, vec b, vec c) { return fsub32(c, fmul32(a, b)); }
INLINE vec fnmadd32(vec a, vec b, vec c) { return fsub32(c, fmul32(a, b)); }
INLINE vec fmsub32(vec a, vec b, vec c) { return fsub32(fmul32(a, b), c); }
#if defined(__SSE2__)
INLINE unsigned signs32(vec x) { return (unsigned)_mm_movemask_ps((__m128)x); } /* lane i's sign in bit i */
#else
INLINE unsigned signs32(vec x) { return x[0] >> 31 | x[1] >> 31 << 1 | x[2] >> 31 << 2 | x[3] >> 31 << 3; }
#endif
/* Returns numbers with the sign of x, and + where x is NaN: the minimum is its second operand where they do not
   compare. */
INLINE vec unsigned_nan32(vec x) { return fmin32(x, set32(0x7f7fffff)); }

INLINE vec load_part64(const void *p, size_t n) { return load_part32(p, 2 * n); }
INLINE void store_part64(void *p, vec x, size_t n) { store_part32(p, x, 2 * n); }
INLINE vec set64(uint64_t x) { return (vec)(unsigned64){ x, x }; }
INLINE vec add64(vec a, vec b) { return (vec)((unsigned64)a + (unsigned64)b); }
INLINE vec sub64(vec a, vec b) { return (vec)((unsigned64)a - (unsigned64)b); }
#if defined(__SSE2__)
INLINE vec sll64(vec a, int n) { return (vec)_mm_sll_epi64((__m128i)a, _mm_cvtsi32_si128(n)); }
INLINE vec srl64(vec a, int n) { return (vec)_mm_srl_epi64((__m128i)a, _mm_cvtsi32_si128(n)); }
#else
INLINE vec sll64(vec a, int n) { return (vec)((unsigned64)a << n); }
INLINE vec srl64(vec a, int n) { return (vec)((unsigned64)a >> n); }
#endif
/* gt64 is for words whose difference does not overflow: magnitudes and -1. SSE2 cannot compare 64 bits. */
#if defined(__SSE2__)
INLINE mask64
neg64(vec a)
{
	return (mask64)_mm_shuffle_epi32(_mm_srai_epi32((__m128i)a, 31), _MM_SHUFFLE(3, 3, 1, 1));
}
#else
INLINE mask64 neg64(vec a) { return (mask64)((signed64)a >> 63); }
#endif
INLINE mask64 gt64(vec a, vec b) { return neg64(sub64(b, a)); }
INLINE vec least64(vec a, vec b) { return pick(gt64(a, b), b, a); }
INLINE mask64 eq64(vec a, vec b) { return (mask64)((signed64)a == (signed64)b); }
INLINE mask64 flt64(vec a, vec b) { return (mask64)((float64)a < (float64)b); }
INLINE mask64 fle64(vec a, vec b) { return (mask64)((float64)a <= (float64)b); }
INLINE mask64
unordered64(vec a, vec b)
{
	return (mask64)((float64)a != (float64)a) | (mask64)((float64)b != (float64)b);
}
#if defined(__SSE2__)
INLINE vec one_nan64(vec a, vec b, vec nan, vec x) { return x & (nan | (vec)_mm_cmpord_pd((__m128d)a, (__m128d)b)); }
#else
INLINE vec one_nan64(vec a, vec b, vec nan, vec x) { return x & (nan | ~unordered64(a, b)); }
#endif
INLINE vec orif64(mask64 m, vec a, vec b) { return a | (m & b); }
INLINE mask64 both64(mask64 a, mask64 b) { return a & b; }
INLINE mask64 either64(mask64 a, mask64 b) { return a | b; }
INLINE mask64 without64(mask64 a, mask64 b) { return ~a & b; }
INLINE vec pick64(mask64 m, vec yes, vec no) { return pick(m, yes, no); }
INLINE vec keep64(mask64 m, vec x) { return m & x; }
INLINE vec clear64(mask64 m, vec x) { return ~m & x; }
INLINE vec addif64(mask64 m, vec a, vec b) { return add64(a, m & b); }
INLINE vec addunless64(mask64 m, vec a, vec b) { return add64(a, ~m & b); }
INLINE vec inc64(mask64 m, vec a) { return sub64(a, m); }
INLINE vec dec64(mask64 m, vec a) { return add64(a, m); }
INLINE vec fadd64(vec a, vec b) { return (vec)((float64)a + (float64)b); }
INLINE vec fsub64(vec a, vec b) { return (vec)((float64)a - (float64)b); }
INLINE vec fmul64(vec a, vec b) { return (vec)((float64)a * (float64)b); }
#if defined(__SSE2__)
INLINE vec fmin64(vec a, vec b) { return (vec)_mm_min_pd((__m128d)a, (__m128d)b); }
INLINE vec fmax64(vec a, vec b) { return (vec)_mm_max_pd((__m128d)a, (__m128d)b); }
#else
INLINE vec fmin64(vec a, vec b) { return pick(flt64(a, b), a, b); }
INLINE vec fmax64(vec a, vec b) { return pick(flt64(b, a), a, b); }
#endif

INLINE vec words32(const uint32_t *w) { return load(w); }
INLINE vec words64(const uint32_t *w) { return (vec)(unsigned64){ w[0], w[1] }; }

#if defined(__SSE2__)
INLINE __m128i low_halves(vec x) /* of lanes below 2^16: packs saturates signed words, hence the sign extension */
{
	__m128i s = _mm_srai_epi32(_mm_slli_epi32((__m128i)x, 16), 16);

	return _mm_packs_epi32(s, s);
}
INLINE void store16(uint16_t *p, vec x) { _mm_storel_epi64((__m128i *)p, low_halves(x)); }
INLINE void store8(uint8_t *p, vec x)
{
	__m128i h = _mm_packs_epi32((__m128i)x, (__m128i)x);
	int four = _mm_cvtsi128_si32(_mm_packus_epi16(h, h));

	memcpy(p, &four, 4);
}
INLINE vec join16(vec a, vec b) { return (vec)_mm_packs_epi32((__m128i)a, (__m128i)b); }
INLINE vec join8(vec a, vec b) { return (vec)_mm_packs_epi16((__m128i)a, (__m128i)b); }
INLINE vec joinu8(vec a, vec b) { return (vec)_mm_packus_epi16((__m128i)a, (__m128i)b); }
INLINE vec
load16(const uint16_t *p)
{
	return (vec)_mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}
INLINE vec load8(const uint8_t *p)
{
	int four;

	memcpy(&four, p, 4);
	return (vec)_mm_unpacklo_epi16(
		_mm_unpacklo_epi8(_mm_cvtsi32_si128(four), _mm_setzero_si128()), _mm_setzero_si128());
}
INLINE vec narrow(const double *p)
{
	return (vec)_mm_movelh_ps(_mm_cvtpd_ps(_mm_loadu_pd(p)), _mm_cvtpd_ps(_mm_loadu_pd(p + 2)));
}
INLINE void widen(double *p, vec x)
{
	_mm_storeu_pd(p, _mm_cvtps_pd((__m128)x));
	_mm_storeu_pd(p + 2, _mm_cvtps_pd(_mm_movehl_ps((__m128)x, (__m128)x)));
}
#else
INLINE int within(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
INLINE vec join16(vec a, vec b)
{
	signed16 r = { 0 };

	for (int i = 0; i < 4; i++) {
		r[i] = (int16_t)within((int32_t)a[i], INT16_MIN, INT16_MAX);
		r[i + 4] = (int16_t)within((int32_t)b[i], INT16_MIN, INT16_MAX);
	}
	return (vec)r;
}
INLINE vec join8(vec a, vec b)
{
	signed8 r = { 0 };

	for (int i = 0; i < 8; i++) {
		r[i] = (int8_t)within(((signed16)a)[i], INT8_MIN, INT8_MAX);
		r[i + 8] = (int8_t)within(((signed16)b)[i], INT8_MIN, INT8_MAX);
	}
	return (vec)r;
}
INLINE vec joinu8(vec a, vec b)
{
	unsigned8 r = { 0 };

	for (int i = 0; i < 8; i++) {
		r[i] = (uint8_t)within(((signed16)a)[i], 0, UINT8_MAX);
		r[i + 8] = (uint8_t)within(((signed16)b)[i], 0, UINT8_MAX);
	}
	return (vec)r;
}
INLINE void store16(uint16_t *p, vec x) { for (int i = 0; i < LANES32; i++) p[i] = (uint16_t)x[i]; }
INLINE void store8(uint8_t *p, vec x) { for (int i = 0; i < LANES32; i++) p[i] = (uint8_t)x[i]; }
INLINE vec load16(const uint16_t *p) { return (vec){ p[0], p[1], p[2], p[3] }; }
INLINE vec load8(const uint8_t *p) { return (vec){ p[0], p[1], p[2], p[3] }; }
INLINE vec narrow(const double *p) { return (vec)(float32){ (float)p[0], (float)p[1], (float)p[2], (float)p[3] }; }
INLINE void widen(double *p, vec x) { for (int i = 0; i < LANES32; i++) p[i] = (double)((float32)x)[i]; }
#endif

/* Operations on 16-bit and 8-bit lanes: codes without sign (below 2^15, or at most 128), words with the values'
   signs, and bounds. */
INLINE vec set16(uint32_t x) { return (vec)((unsigned16){ 0 } + (uint16_t)x); }
INLINE vec set8(uint32_t x) { return (vec)((unsigned8){ 0 } + (uint8_t)x); }
#if defined(__SSE2__)
INLINE vec least16(vec a, vec b) { return (vec)_mm_min_epi16((__m128i)a, (__m128i)b); }
INLINE vec least8(vec a, vec b) { return (vec)_mm_min_epu8((__m128i)a, (__m128i)b); }
#else
INLINE vec least16(vec a, vec b) { return pick((vec)((signed16)a > (signed16)b), b, a); }
INLINE vec least8(vec a, vec b) { return pick((vec)((unsigned8)a > (unsigned8)b), b, a); }
#endif
/* Returns code, with bit set where u is negative and high > low. */
INLINE vec sign16(vec code, vec u, vec high, vec low, vec bit)
{
	return code | ((vec)((signed16)u < (signed16){ 0 }) & bit & (vec)((signed16)high > (signed16)low));
}
INLINE vec sign8(vec code, vec u, vec high, vec low, vec bit)
{
	return code | ((vec)((signed8)u < (signed8){ 0 }) & bit & (vec)((signed8)high > (signed8)low));
}
/* Puts the result of two join16, or of join16 and joinu8, into the order of memory: wide registers narrow each 16
   bytes by themselves. */
INLINE vec order16(vec x) { return x; }
INLINE vec order8(vec x) { return x; }

#define HU_HALF 0
#endif
