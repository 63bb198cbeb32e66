/* SPDX-License-Identifier: Apache-2.0
   Eight double-doubles at a time in the registers of AVX-512. Each operation gives the bits of its namesake in dd.h, or
   a bound that is NaN, which every later operation passes on: whoever reads such a lane computes its value again with
   dd.h. That happens where a product may underflow or overflow and where a function leaves its usual range. HU_DDW
   says that the compiler has what this needs; hu_ddw_wanted() says whether the processor and the user want it. */
#ifndef HU_EXACT_DDW_H
#define HU_EXACT_DDW_H

#include "lib/exact/dd/dd.h"
#include "lib/number/simd.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) &&                        \
	!defined(__SANITIZE_ADDRESS__) && !defined(__cplusplus) && !defined(__CUDACC__)
#define HU_DDW 1
#include <immintrin.h>

enum { HU_DDW_LANES = 8 };

/* Opens and closes a stretch of code for these registers; HU_DDW_CODE marks a single function. */
#define HU_DDW_TARGET "avx512f,avx512dq,avx512vl,avx512bw,fma"
#define HU_DDW_CODE __attribute__((target(HU_DDW_TARGET)))
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")

typedef struct hu_ddw {
	__m512d h, l, e;
} hu_ddw;
/* A call's constants in this carrier. */
typedef struct hu_ctx_ddw {
	hu_ddw k[HU_DD_CONSTANTS];
} hu_ctx_ddw;

/* Whether loops over eight values are to be used. */
static inline __attribute__((unused)) int
hu_ddw_wanted(void)
{
	return hu_simd_level() == HU_SIMD_AVX512;
}

/* Set where a formula looks at a value to decide what to compute, which eight lanes cannot do. */
static _Thread_local int hu_ddw_unfit;

#define HU_DDW_ALL(x) _mm512_set1_pd(x)
#define HU_DDW_IF(a, b, RELATION) _mm512_cmp_pd_mask(a, b, RELATION)

HU_INLINE __m512d
hu_ddw_lanes_abs(__m512d a)
{
	return _mm512_abs_pd(a);
}
HU_INLINE __m512d
hu_ddw_lanes_neg(__m512d a)
{
	return _mm512_xor_pd(a, HU_DDW_ALL(-0.0));
}
/* a where m is set, else b. */
HU_INLINE __m512d
hu_ddw_lanes_pick(__mmask8 m, __m512d a, __m512d b)
{
	return _mm512_mask_blend_pd(m, b, a);
}

HU_INLINE hu_ddw
hu_ddw_of(double x)
{
	return (hu_ddw){ HU_DDW_ALL(x), HU_DDW_ALL(0), HU_DDW_ALL(0) };
}
HU_INLINE hu_ddw
hu_ddw_all(hu_dd x)
{
	return (hu_ddw){ HU_DDW_ALL(x.h), HU_DDW_ALL(x.l), HU_DDW_ALL(x.e) };
}
HU_INLINE hu_ddw
hu_ddw_literal(double x)
{
	return hu_ddw_of(x);
}
HU_INLINE hu_ddw
hu_ddw_literal2(double h, double l)
{
	return hu_ddw_all(hu_dd_literal2(h, l));
}

HU_INLINE hu_ddw
hu_ddw_choose(__mmask8 m, hu_ddw a, hu_ddw b)
{
	return (hu_ddw){ hu_ddw_lanes_pick(m, a.h, b.h), hu_ddw_lanes_pick(m, a.l, b.l),
		hu_ddw_lanes_pick(m, a.e, b.e) };
}

/* a with a bound of NaN where m is set. */
HU_INLINE hu_ddw
hu_ddw_doubt(hu_ddw a, __mmask8 m)
{
	a.e = hu_ddw_lanes_pick(m, HU_DDW_ALL(__builtin_nan("")), a.e);
	return a;
}

/* The lanes that have to be computed by dd.h. */
HU_INLINE __mmask8
hu_ddw_doubtful(hu_ddw a)
{
	return HU_DDW_IF(a.h, a.l, _CMP_UNORD_Q) | HU_DDW_IF(a.e, a.e, _CMP_UNORD_Q);
}

HU_INLINE __m512d
hu_ddw_two_sum(__m512d a, __m512d b, __m512d *t)
{
	__m512d s = a + b, z = s - a;

	*t = (a - (s - z)) + (b - z);
	return s;
}

HU_INLINE hu_ddw
hu_ddw_made(__m512d h, __m512d v, __m512d e)
{
	hu_ddw r;

	r.h = hu_ddw_two_sum(h, v, &r.l);
	r.e = e * HU_DDW_ALL(1 + 0x1p-48);
	return r;
}

HU_INLINE hu_ddw
hu_ddw_add(hu_ddw a, hu_ddw b)
{
	__m512d t, s = hu_ddw_two_sum(a.h, b.h, &t), u = a.l + b.l, v = t + u, e = a.e + b.e;
	__mmask8 some = HU_DDW_IF(u, HU_DDW_ALL(0), _CMP_NEQ_UQ);

	e = _mm512_mask_add_pd(e, some, e, HU_DDW_ALL(0x1p-52) * (hu_ddw_lanes_abs(u) + hu_ddw_lanes_abs(v)));
	return hu_ddw_made(s, v, e);
}

HU_INLINE hu_ddw
hu_ddw_neg(hu_ddw a)
{
	return (hu_ddw){ hu_ddw_lanes_neg(a.h), hu_ddw_lanes_neg(a.l), a.e };
}

HU_INLINE hu_ddw
hu_ddw_sub(hu_ddw a, hu_ddw b)
{
	return hu_ddw_add(a, hu_ddw_neg(b));
}

/* The rounding error of a product is an exact double where the product lies between 2^-900 and 2^990 and its factors
   below 2^995, and then both ways of hu_dd_product find it. */
HU_INLINE hu_ddw
hu_ddw_mul(hu_ddw a, hu_ddw b)
{
	const __m512d zero = HU_DDW_ALL(0), tiny = HU_DDW_ALL(0x1p-1070), u = HU_DDW_ALL(0x1p-52);
	__m512d p = a.h * b.h, r = _mm512_fmsub_pd(a.h, b.h, p), x = a.h * b.l, y = a.l * b.h, t = x + y, v = r + t;
	__m512d ah = hu_ddw_lanes_abs(a.h), bh = hu_ddw_lanes_abs(b.h), size = hu_ddw_lanes_abs(p), e;
	__mmask8 ha = HU_DDW_IF(a.h, zero, _CMP_NEQ_UQ), hb = HU_DDW_IF(b.h, zero, _CMP_NEQ_UQ), some = ha & hb,
		 low = HU_DDW_IF(a.l, zero, _CMP_NEQ_UQ) | HU_DDW_IF(b.l, zero, _CMP_NEQ_UQ),
		 ea = HU_DDW_IF(a.e, zero, _CMP_NEQ_UQ), eb = HU_DDW_IF(b.e, zero, _CMP_NEQ_UQ);
	__mmask8 off = (ea & (hb | eb)) | (eb & ha),
		 odd = (some & (HU_DDW_IF(size, HU_DDW_ALL(0x1p-900), _CMP_NGE_UQ) |
				       HU_DDW_IF(size, HU_DDW_ALL(0x1p990), _CMP_NLE_UQ))) |
		       HU_DDW_IF(ah, HU_DDW_ALL(0x1p995), _CMP_NLE_UQ) |
		       HU_DDW_IF(bh, HU_DDW_ALL(0x1p995), _CMP_NLE_UQ);

	e = u * (hu_ddw_lanes_abs(x) + hu_ddw_lanes_abs(y) + hu_ddw_lanes_abs(t)) + hu_ddw_lanes_abs(a.l * b.l);
	e = _mm512_mask_add_pd(e, some & low, e, u * hu_ddw_lanes_abs(v) + tiny);
	__m512d inherited = ah * b.e + bh * a.e + a.e * b.e;
	e = e + _mm512_mask_add_pd(inherited, off, inherited, tiny);
	return hu_ddw_doubt(hu_ddw_made(p, v, e), odd);
}

/* A double as an operand of a product. */
HU_INLINE hu_ddw
hu_ddw_exactly(__m512d x)
{
	return (hu_ddw){ x, HU_DDW_ALL(0), HU_DDW_ALL(0) };
}

HU_INLINE hu_ddw
hu_ddw_div(hu_ddw a, hu_ddw b)
{
	const __m512d zero = HU_DDW_ALL(0);
	__m512d q1 = a.h / b.h, q2, gap = hu_ddw_lanes_abs(b.h) * HU_DDW_ALL(1 - 0x1p-50) - b.e;
	hu_ddw r = hu_ddw_sub((hu_ddw){ a.h, a.l, zero }, hu_ddw_mul(hu_ddw_exactly(q1), (hu_ddw){ b.h, b.l, zero })),
	       q;
	__mmask8 positive = HU_DDW_IF(gap, zero, _CMP_GT_OQ), lost = HU_DDW_IF(r.e, r.e, _CMP_UNORD_Q);

	q2 = r.h / b.h;
	q.h = hu_ddw_two_sum(q1, q2, &q.l);
	q.e = zero;
	r = hu_ddw_sub(a, hu_ddw_mul(q, b));
	q.e = hu_ddw_lanes_abs(r.h) + hu_ddw_lanes_abs(r.l) + r.e;
	lost |= HU_DDW_IF(q.e, gap, _CMP_UNORD_Q);
	__m512d wide = q.e / gap * HU_DDW_ALL(1 + 0x1p-48) + HU_DDW_ALL(0x1p-1070);
	wide = hu_ddw_lanes_pick(HU_DDW_IF(q.e, zero, _CMP_EQ_OQ), zero, wide);
	q.e = hu_ddw_lanes_pick(positive, wide, HU_DDW_ALL(INFINITY));
	return hu_ddw_doubt(q, lost);
}

HU_INLINE hu_ddw
hu_ddw_sqrt(hu_ddw a)
{
	const __m512d zero = HU_DDW_ALL(0), grow = HU_DDW_ALL(1 + 0x1p-48), tiny = HU_DDW_ALL(0x1p-1070);
	__mmask8 positive = HU_DDW_IF(a.h, zero, _CMP_GT_OQ);
	__m512d h = hu_ddw_lanes_pick(positive, a.h, HU_DDW_ALL(1)), s1 = _mm512_sqrt_pd(h), most = a.h + a.l + a.e;
	hu_ddw top = { h, a.l, zero }, root = hu_ddw_exactly(s1), r = hu_ddw_sub(top, hu_ddw_mul(root, root)), s;
	__mmask8 lost = HU_DDW_IF(r.e, a.e, _CMP_UNORD_Q);

	s.h = hu_ddw_two_sum(s1, r.h / (HU_DDW_ALL(2) * s1), &s.l);
	s.e = zero;
	r = hu_ddw_sub(top, hu_ddw_mul(s, s));
	s.e = hu_ddw_lanes_abs(r.h) + hu_ddw_lanes_abs(r.l) + r.e;
	lost |= HU_DDW_IF(s.e, s.e, _CMP_UNORD_Q);
	__m512d near = a.e / s.h * grow, far = _mm512_sqrt_pd(a.e) * grow;
	near = hu_ddw_lanes_pick(HU_DDW_IF(near, far, _CMP_LT_OQ), near, far);
	s.e = hu_ddw_lanes_pick(HU_DDW_IF(s.e, zero, _CMP_EQ_OQ), zero, s.e / s.h * grow + tiny) +
	      hu_ddw_lanes_pick(HU_DDW_IF(a.e, zero, _CMP_EQ_OQ), zero, near + tiny);
	__m512d maybe = hu_ddw_lanes_pick(HU_DDW_IF(most, zero, _CMP_GE_OQ),
		_mm512_sqrt_pd(hu_ddw_lanes_abs(a.h) + a.e) * grow, HU_DDW_ALL(INFINITY));
	s.h = hu_ddw_lanes_pick(positive, s.h, zero);
	s.l = hu_ddw_lanes_pick(positive, s.l, zero);
	s.e = hu_ddw_lanes_pick(positive, s.e, maybe);
	return hu_ddw_doubt(s, lost);
}

HU_INLINE hu_ddw
hu_ddw_abs(hu_ddw a)
{
	return hu_ddw_choose(
		HU_DDW_IF(a.h, HU_DDW_ALL(0), _CMP_LT_OQ), hu_ddw_neg(a), (hu_ddw){ hu_ddw_lanes_abs(a.h), a.l, a.e });
}

HU_INLINE hu_ddw
hu_ddw_min(hu_ddw a, hu_ddw b)
{
	__mmask8 less =
		HU_DDW_IF(b.h, a.h, _CMP_LT_OQ) | (HU_DDW_IF(b.h, a.h, _CMP_EQ_OQ) & HU_DDW_IF(b.l, a.l, _CMP_LT_OQ));
	hu_ddw r = hu_ddw_choose(less, b, a);
	const __m512d far = HU_DDW_ALL(INFINITY);
	__mmask8 finite = HU_DDW_IF(a.h - b.h, far, _CMP_LT_OQ) & HU_DDW_IF(b.h - a.h, far, _CMP_LT_OQ);

	r.e = hu_ddw_lanes_pick(HU_DDW_IF(a.e, b.e, _CMP_LT_OQ), b.e, a.e);
	r.e = hu_ddw_lanes_pick(finite, r.e, far);
	return hu_ddw_doubt(r, HU_DDW_IF(a.e, b.e, _CMP_UNORD_Q));
}

HU_INLINE hu_ddw
hu_ddw_pick(hu_ddw y, hu_ddw a, hu_ddw b)
{
	const __m512d zero = HU_DDW_ALL(0);
	hu_ddw r = hu_ddw_choose(HU_DDW_IF(y.h, zero, _CMP_NLE_UQ), a, b);
	__mmask8 unsure = HU_DDW_IF(y.h, y.h, _CMP_UNORD_Q) |
			  (HU_DDW_IF(y.e, zero, _CMP_NEQ_UQ) & HU_DDW_IF(hu_ddw_lanes_abs(y.h), y.e, _CMP_NGT_UQ));
	__m512d both = (a.e + b.e + (hu_ddw_lanes_abs(a.h - b.h) + hu_ddw_lanes_abs(a.l) + hu_ddw_lanes_abs(b.l))) *
		       HU_DDW_ALL(1 + 0x1p-48);

	r.e = hu_ddw_lanes_pick(unsure, both, r.e);
	return hu_ddw_doubt(r, HU_DDW_IF(y.e, y.e, _CMP_UNORD_Q));
}

/* Loads and stores eight hu_dd that stand one behind another. */
HU_INLINE hu_ddw
hu_ddw_load(const hu_dd *from)
{
	const double *d = &from->h;
	__m512d x = _mm512_loadu_pd(d), y = _mm512_loadu_pd(d + 8), z = _mm512_loadu_pd(d + 16);

	return (hu_ddw){
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(x, _mm512_setr_epi64(0, 3, 6, 9, 12, 15, 0, 0), y),
			_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 10, 13), z),
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(x, _mm512_setr_epi64(1, 4, 7, 10, 13, 0, 0, 0), y),
			_mm512_setr_epi64(0, 1, 2, 3, 4, 8, 11, 14), z),
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(x, _mm512_setr_epi64(2, 5, 8, 11, 14, 0, 0, 0), y),
			_mm512_setr_epi64(0, 1, 2, 3, 4, 9, 12, 15), z),
	};
}

HU_INLINE void
hu_ddw_store(hu_dd *to, hu_ddw a)
{
	double *d = &to->h;

	_mm512_storeu_pd(
		d, _mm512_permutex2var_pd(_mm512_permutex2var_pd(a.h, _mm512_setr_epi64(0, 8, 0, 1, 9, 0, 2, 10), a.l),
			   _mm512_setr_epi64(0, 1, 8, 3, 4, 9, 6, 7), a.e));
	_mm512_storeu_pd(d + 8,
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(a.h, _mm512_setr_epi64(0, 3, 11, 0, 4, 12, 0, 5), a.l),
			_mm512_setr_epi64(10, 1, 2, 11, 4, 5, 12, 7), a.e));
	_mm512_storeu_pd(d + 16,
		_mm512_permutex2var_pd(_mm512_permutex2var_pd(a.h, _mm512_setr_epi64(13, 0, 6, 14, 0, 7, 15, 0), a.l),
			_mm512_setr_epi64(0, 13, 2, 3, 14, 5, 6, 15), a.e));
}

/* Whoever calls this decides by a value, which only dd.h can do: the result counts for nothing. */
HU_INLINE double
hu_ddw_value(hu_ddw a)
{
	hu_ddw_unfit = 1;
	return a.h[0];
}

/* Elementary functions (ddw.c). */
hu_ddw hu_ddw_exp(hu_ddw a);
hu_ddw hu_ddw_log(hu_ddw a);
hu_ddw hu_ddw_tanh(hu_ddw a);
hu_ddw hu_ddw_sigmoid(hu_ddw a);

/* Functions that are left to dd.h. */
#define HU_DDW_LEFT(NAME)                                                                                              \
	HU_INLINE hu_ddw hu_ddw_##NAME(hu_ddw a)                                                                       \
	{                                                                                                              \
		return hu_ddw_doubt(a, 0xff);                                                                          \
	}
#define HU_DDW_LEFT2(NAME)                                                                                             \
	HU_INLINE hu_ddw hu_ddw_##NAME(hu_ddw a, hu_ddw b)                                                             \
	{                                                                                                              \
		return (void)b, hu_ddw_doubt(a, 0xff);                                                                 \
	}
HU_DDW_LEFT(erf)
HU_DDW_LEFT(expm1)
HU_DDW_LEFT(log1p)
HU_DDW_LEFT(rsqrt)
HU_DDW_LEFT(sin)
HU_DDW_LEFT(cos)
HU_DDW_LEFT(rint)
HU_DDW_LEFT(floor)
HU_DDW_LEFT(ceil)
HU_DDW_LEFT(sign)
HU_DDW_LEFT2(pow)
HU_DDW_LEFT2(atan2)
HU_DDW_LEFT2(less)
HU_DDW_LEFT2(equal)
#undef HU_DDW_LEFT
#undef HU_DDW_LEFT2

#pragma GCC pop_options
#endif
#endif
