/* SPDX-License-Identifier: Apache-2.0
   What ddw.inc needs of AVX-512: eight doubles, a truth value for each, and eight double-doubles in memory. */
#ifndef HU_EXACT_DDW8_LANES_H
#define HU_EXACT_DDW8_LANES_H

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")

typedef __m512d hu_ddw8_lanes;
typedef __mmask8 hu_ddw8_mask;
#define HU_DDW8_IF(a, b, RELATION) _mm512_cmp_pd_mask(a, b, RELATION)

HU_INLINE __m512d hu_ddw8_lanes_all(double x) { return _mm512_set1_pd(x); }
HU_INLINE __m512d hu_ddw8_lanes_abs(__m512d a) { return _mm512_abs_pd(a); }
HU_INLINE __m512d hu_ddw8_lanes_neg(__m512d a) { return _mm512_xor_pd(a, _mm512_set1_pd(-0.0)); }
HU_INLINE __m512d hu_ddw8_lanes_sqrt(__m512d a) { return _mm512_sqrt_pd(a); }
/* b where either is NaN. */
HU_INLINE __m512d hu_ddw8_lanes_min(__m512d a, __m512d b) { return _mm512_min_pd(a, b); }
HU_INLINE __m512d hu_ddw8_lanes_max(__m512d a, __m512d b) { return _mm512_max_pd(a, b); }
/* The nearest whole number, ties to even, and the nearest toward 0. */
HU_INLINE __m512d hu_ddw8_lanes_rint(__m512d a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT); }
HU_INLINE __m512d hu_ddw8_lanes_trunc(__m512d a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_ZERO); }
HU_INLINE __m512d hu_ddw8_lanes_floor(__m512d a) { return _mm512_floor_pd(a); }
HU_INLINE __m512d hu_ddw8_lanes_ceil(__m512d a) { return _mm512_ceil_pd(a); }
/* The nearest floats. */
HU_INLINE __m512d hu_ddw8_lanes_single(__m512d a) { return _mm512_cvtps_pd(_mm512_cvtpd_ps(a)); }
/* a b - c with one rounding. */
HU_INLINE __m512d hu_ddw8_lanes_fmsub(__m512d a, __m512d b, __m512d c) { return _mm512_fmsub_pd(a, b, c); }

/* a where m is set, else b. */
HU_INLINE __m512d
hu_ddw8_lanes_pick(__mmask8 m, __m512d a, __m512d b)
{
	return _mm512_mask_blend_pd(m, b, a);
}

/* a + b where m is set, else a. */
HU_INLINE __m512d
hu_ddw8_lanes_add_where(__m512d a, __mmask8 m, __m512d b)
{
	return _mm512_mask_add_pd(a, m, a, b);
}

/* 2^k for whole numbers k from -1022 to 1023. */
HU_INLINE __m512d
hu_ddw8_lanes_power(__m512d k)
{
	__m512i n = _mm512_cvttpd_epi64(k);

	return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_add_epi64(n, _mm512_set1_epi64(1023)), 52));
}

/* table[k] for whole numbers k from 0 to 2^31 - 1. */
HU_INLINE __m512d
hu_ddw8_lanes_at(const double *table, __m512d k)
{
	return _mm512_i32gather_pd(_mm512_cvttpd_epi32(k), table, 8);
}

/* A bit for each lane, that of the first one lowest. */
HU_INLINE unsigned hu_ddw8_bits(__mmask8 m) { return m; }

/* Eight doubles at any address. */
HU_INLINE __m512d hu_ddw8_lanes_read(const double *from) { return _mm512_loadu_pd(from); }
HU_INLINE void hu_ddw8_lanes_write(double *to, __m512d a) { _mm512_storeu_pd(to, a); }
/* Eight floats at any address. */
HU_INLINE __m512d hu_ddw8_lanes_singles(const float *from) { return _mm512_cvtps_pd(_mm256_loadu_ps(from)); }

/* Eight doubles, each so many behind the one before. */
HU_INLINE __m512d
hu_ddw8_lanes_every(const double *from, size_t stride)
{
	return _mm512_setr_pd(from[0], from[stride], from[2 * stride], from[3 * stride], from[4 * stride],
		from[5 * stride], from[6 * stride], from[7 * stride]);
}

/* Eight hu_dd that stand one behind another, their parts apart. */
HU_INLINE void
hu_ddw8_lanes_load(const hu_dd *from, __m512d *h, __m512d *l, __m512d *e)
{
	const double *d = &from->h;
	__m512d x = _mm512_loadu_pd(d), y = _mm512_loadu_pd(d + 8), z = _mm512_loadu_pd(d + 16);

	*h = _mm512_permutex2var_pd(_mm512_permutex2var_pd(x, _mm512_setr_epi64(0, 3, 6, 9, 12, 15, 0, 0), y),
		_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 10, 13), z);
	*l = _mm512_permutex2var_pd(_mm512_permutex2var_pd(x, _mm512_setr_epi64(1, 4, 7, 10, 13, 0, 0, 0), y),
		_mm512_setr_epi64(0, 1, 2, 3, 4, 8, 11, 14), z);
	*e = _mm512_permutex2var_pd(_mm512_permutex2var_pd(x, _mm512_setr_epi64(2, 5, 8, 11, 14, 0, 0, 0), y),
		_mm512_setr_epi64(0, 1, 2, 3, 4, 9, 12, 15), z);
}

HU_INLINE void
hu_ddw8_lanes_store(hu_dd *to, __m512d h, __m512d l, __m512d e)
{
	double *d = &to->h;

	_mm512_storeu_pd(d,
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(h, _mm512_setr_epi64(0, 8, 0, 1, 9, 0, 2, 10), l),
			_mm512_setr_epi64(0, 1, 8, 3, 4, 9, 6, 7), e));
	_mm512_storeu_pd(d + 8,
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(h, _mm512_setr_epi64(0, 3, 11, 0, 4, 12, 0, 5), l),
			_mm512_setr_epi64(10, 1, 2, 11, 4, 5, 12, 7), e));
	_mm512_storeu_pd(d + 16,
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(h, _mm512_setr_epi64(13, 0, 6, 14, 0, 7, 15, 0), l),
			_mm512_setr_epi64(0, 13, 2, 3, 14, 5, 6, 15), e));
}

/* Eight pairs of doubles that stand one behind another, their parts apart. */
HU_INLINE void
hu_ddw8_lanes_load2(const double *from, __m512d *a, __m512d *b)
{
	__m512d x = _mm512_loadu_pd(from), y = _mm512_loadu_pd(from + 8);

	*a = _mm512_permutex2var_pd(x, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), y);
	*b = _mm512_permutex2var_pd(x, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), y);
}

HU_INLINE void
hu_ddw8_lanes_store2(double *to, __m512d a, __m512d b)
{
	_mm512_storeu_pd(to, _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b));
	_mm512_storeu_pd(to + 8, _mm512_permutex2var_pd(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b));
}

#pragma GCC pop_options
#endif
