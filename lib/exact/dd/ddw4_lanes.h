/* SPDX-License-Identifier: Apache-2.0
   What ddw.inc needs of AVX2 and FMA: four doubles, a truth value (all bits of a lane) for each, and four
   double-doubles in memory. */
#ifndef HU_EXACT_DDW4_LANES_H
#define HU_EXACT_DDW4_LANES_H

#pragma GCC push_options
#pragma GCC target("avx2,fma")

typedef __m256d hu_ddw4_lanes;
typedef __m256i hu_ddw4_mask;
#define HU_DDW4_IF(a, b, RELATION) _mm256_castpd_si256(_mm256_cmp_pd(a, b, RELATION))

HU_INLINE __m256d hu_ddw4_lanes_all(double x) { return _mm256_set1_pd(x); }
HU_INLINE __m256d hu_ddw4_lanes_abs(__m256d a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
HU_INLINE __m256d hu_ddw4_lanes_neg(__m256d a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
HU_INLINE __m256d hu_ddw4_lanes_sqrt(__m256d a) { return _mm256_sqrt_pd(a); }
/* b where either is NaN. */
HU_INLINE __m256d hu_ddw4_lanes_min(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
HU_INLINE __m256d hu_ddw4_lanes_max(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
/* The nearest whole number, ties to even, and the nearest toward 0. */
HU_INLINE __m256d hu_ddw4_lanes_rint(__m256d a) { return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT); }
HU_INLINE __m256d hu_ddw4_lanes_trunc(__m256d a) { return _mm256_round_pd(a, _MM_FROUND_TO_ZERO); }
HU_INLINE __m256d hu_ddw4_lanes_floor(__m256d a) { return _mm256_floor_pd(a); }
HU_INLINE __m256d hu_ddw4_lanes_ceil(__m256d a) { return _mm256_ceil_pd(a); }
/* The nearest floats. */
HU_INLINE __m256d hu_ddw4_lanes_single(__m256d a) { return _mm256_cvtps_pd(_mm256_cvtpd_ps(a)); }
/* a b - c with one rounding. */
HU_INLINE __m256d hu_ddw4_lanes_fmsub(__m256d a, __m256d b, __m256d c) { return _mm256_fmsub_pd(a, b, c); }

/* a where m is set, else b. */
HU_INLINE __m256d
hu_ddw4_lanes_pick(__m256i m, __m256d a, __m256d b)
{
	return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(m));
}

/* a + b where m is set, else a. */
HU_INLINE __m256d
hu_ddw4_lanes_add_where(__m256d a, __m256i m, __m256d b)
{
	return hu_ddw4_lanes_pick(m, a + b, a);
}

/* 2^k for whole numbers k from -1022 to 1023: adding 1.5 2^52 leaves a whole number in the lowest bits. */
HU_INLINE __m256d
hu_ddw4_lanes_power(__m256d k)
{
	__m256d n = k + _mm256_set1_pd(0x1.8p52 + 1023);

	return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(n), 52));
}

/* table[k] for whole numbers k from 0 to 2^31 - 1. */
HU_INLINE __m256d
hu_ddw4_lanes_at(const double *table, __m256d k)
{
	return _mm256_i32gather_pd(table, _mm256_cvttpd_epi32(k), 8);
}

/* A bit for each lane, that of the first one lowest. */
HU_INLINE unsigned hu_ddw4_bits(__m256i m) { return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(m)); }

/* Four doubles at any address. */
HU_INLINE __m256d hu_ddw4_lanes_read(const double *from) { return _mm256_loadu_pd(from); }
HU_INLINE void hu_ddw4_lanes_write(double *to, __m256d a) { _mm256_storeu_pd(to, a); }
/* Four floats at any address. */
HU_INLINE __m256d hu_ddw4_lanes_singles(const float *from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }

/* Four doubles, each so many behind the one before. */
HU_INLINE __m256d
hu_ddw4_lanes_every(const double *from, size_t stride)
{
	return _mm256_setr_pd(from[0], from[stride], from[2 * stride], from[3 * stride]);
}

/* Four hu_dd that stand one behind another, their parts apart: two blends gather the four doubles of a part, which a
   permutation then puts in order. */
HU_INLINE void
hu_ddw4_lanes_load(const hu_dd *from, __m256d *h, __m256d *l, __m256d *e)
{
	const double *d = &from->h; /* h0 l0 e0 h1 | l1 e1 h2 l2 | e2 h3 l3 e3 */
	__m256d x = _mm256_loadu_pd(d), y = _mm256_loadu_pd(d + 4), z = _mm256_loadu_pd(d + 8);

	*h = _mm256_permute4x64_pd(_mm256_blend_pd(_mm256_blend_pd(x, y, 4), z, 2), _MM_SHUFFLE(1, 2, 3, 0));
	*l = _mm256_permute4x64_pd(_mm256_blend_pd(_mm256_blend_pd(y, x, 2), z, 4), _MM_SHUFFLE(2, 3, 0, 1));
	*e = _mm256_permute4x64_pd(_mm256_blend_pd(_mm256_blend_pd(z, y, 2), x, 4), _MM_SHUFFLE(3, 0, 1, 2));
}

HU_INLINE void
hu_ddw4_lanes_store(hu_dd *to, __m256d h, __m256d l, __m256d e)
{
	double *d = &to->h;
	__m256d x = _mm256_permute4x64_pd(h, _MM_SHUFFLE(1, 2, 3, 0)),
		y = _mm256_permute4x64_pd(l, _MM_SHUFFLE(2, 3, 0, 1)),
		z = _mm256_permute4x64_pd(e, _MM_SHUFFLE(3, 0, 1, 2));

	_mm256_storeu_pd(d, _mm256_blend_pd(_mm256_blend_pd(x, y, 2), z, 4));
	_mm256_storeu_pd(d + 4, _mm256_blend_pd(_mm256_blend_pd(y, z, 2), x, 4));
	_mm256_storeu_pd(d + 8, _mm256_blend_pd(_mm256_blend_pd(z, x, 2), y, 4));
}

/* Four pairs of doubles that stand one behind another, their parts apart. */
HU_INLINE void
hu_ddw4_lanes_load2(const double *from, __m256d *a, __m256d *b)
{
	__m256d x = _mm256_loadu_pd(from), y = _mm256_loadu_pd(from + 4); /* a0 b0 a1 b1 | a2 b2 a3 b3 */

	*a = _mm256_permute4x64_pd(_mm256_unpacklo_pd(x, y), _MM_SHUFFLE(3, 1, 2, 0));
	*b = _mm256_permute4x64_pd(_mm256_unpackhi_pd(x, y), _MM_SHUFFLE(3, 1, 2, 0));
}

HU_INLINE void
hu_ddw4_lanes_store2(double *to, __m256d a, __m256d b)
{
	__m256d x = _mm256_permute4x64_pd(a, _MM_SHUFFLE(3, 1, 2, 0)),
		y = _mm256_permute4x64_pd(b, _MM_SHUFFLE(3, 1, 2, 0));

	_mm256_storeu_pd(to, _mm256_unpacklo_pd(x, y));
	_mm256_storeu_pd(to + 4, _mm256_unpackhi_pd(x, y));
}

#pragma GCC pop_options
#endif
