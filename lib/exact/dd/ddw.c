/* SPDX-License-Identifier: Apache-2.0
   Elementary functions of eight double-doubles at a time: the operations of dd.c in the same order. A lane that takes
   another path there than most is left to it (ddw.h). */
#include "lib/exact/dd/ddw.h"

#include "lib/exact/dd/dd_series.h"
#include "lib/number/elementary/elementary.h"

#ifdef HU_DDW
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")

/* The lanes that are exactly 0. */
static __mmask8
vanishing(hu_ddw a)
{
	const __m512d zero = HU_DDW_ALL(0);

	return HU_DDW_IF(a.h, zero, _CMP_EQ_OQ) & HU_DDW_IF(a.l, zero, _CMP_EQ_OQ) & HU_DDW_IF(a.e, zero, _CMP_EQ_OQ);
}

/* 2^k for whole numbers k from -1022 to 1023. */
static __m512d
power(__m512i k)
{
	return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_add_epi64(k, _mm512_set1_epi64(1023)), 52));
}

static hu_ddw
scaled(hu_ddw a, __m512d by)
{
	return (hu_ddw){ a.h * by, a.l * by, a.e * by };
}

hu_ddw
hu_ddw_exp(hu_ddw a)
{
	const __m512d tiny = HU_DDW_ALL(0x1p-1070);
	__m512d k = _mm512_roundscale_pd(a.h * HU_DDW_ALL(0x1.71547652b82fep+0), _MM_FROUND_TO_NEAREST_INT);
	__mmask8 zero = vanishing(a),
		 low = HU_DDW_IF(a.h + a.e, HU_DDW_ALL(-740), _CMP_LT_OQ) &
		       HU_DDW_IF(a.h, HU_DDW_ALL(-INFINITY), _CMP_GT_OQ),
		 odd = HU_DDW_IF(a.e, HU_DDW_ALL(0x1p-11), _CMP_NLE_UQ) | HU_DDW_IF(a.h, HU_DDW_ALL(700), _CMP_NLT_UQ);
	hu_ddw r, p, by, whole = hu_ddw_exactly(k);

	r = hu_ddw_sub(a, hu_ddw_mul(whole, hu_ddw_of(0x1.62e42fefa39efp-1)));
	r = hu_ddw_sub(r, hu_ddw_mul(whole, hu_ddw_of(0x1.abc9e3b39803fp-56)));
	r = hu_ddw_sub(r, hu_ddw_mul(whole, hu_ddw_literal2(0x1.7b57a079a1934p-111, 0x1p-164)));
	odd |= HU_DDW_IF(hu_ddw_lanes_abs(r.h), HU_DDW_ALL(0.36), _CMP_NLT_UQ);
	by = scaled(r, HU_DDW_ALL(0x1p-8));
	by.e = by.e + tiny;
	p = hu_ddw_literal2(hu_dd_factorial[HU_DD_DEGREE - 2][0], hu_dd_factorial[HU_DD_DEGREE - 2][1]);
	for (int i = HU_DD_DEGREE - 3; i >= 0; i--)
		p = hu_ddw_add(hu_ddw_mul(p, by), hu_ddw_literal2(hu_dd_factorial[i][0], hu_dd_factorial[i][1]));
	p = hu_ddw_add(by, hu_ddw_mul(hu_ddw_mul(p, by), by));
	p.e = p.e + HU_DDW_ALL(0x1p-123);
	for (int i = 0; i < HU_DD_HALVINGS; i++)
		p = hu_ddw_add(scaled(p, HU_DDW_ALL(2)), hu_ddw_mul(p, p));
	p = hu_ddw_add(hu_ddw_of(1), p);
	/* Lanes beyond these exponents are odd or low, and what is computed of them is thrown away. */
	k = _mm512_max_pd(_mm512_min_pd(k, HU_DDW_ALL(1020)), HU_DDW_ALL(-1100));
	__m512i n = _mm512_cvttpd_epi64(k), m = _mm512_cvttpd_epi64(k * HU_DDW_ALL(0.5));
	__m512d half = power(m), rest = power(_mm512_sub_epi64(n, m));
	p = scaled(scaled(p, half), rest);
	p.e = p.e * HU_DDW_ALL(1 + 0x1p-48);
	p.e = _mm512_mask_add_pd(p.e, HU_DDW_IF(k, HU_DDW_ALL(-900), _CMP_LT_OQ), p.e, tiny);
	p = hu_ddw_doubt(p, odd);
	p = hu_ddw_choose(low, (hu_ddw){ HU_DDW_ALL(0), HU_DDW_ALL(0), HU_DDW_ALL(0x1p-1060) }, p);
	return hu_ddw_choose(zero, hu_ddw_of(1), p);
}

hu_ddw
hu_ddw_log(hu_ddw a)
{
	__mmask8 odd = HU_DDW_IF(a.h - (hu_ddw_lanes_abs(a.l) + a.e), HU_DDW_ALL(0), _CMP_NGT_UQ) |
		       HU_DDW_IF(a.h, HU_DDW_ALL(0x1p1000), _CMP_NLT_UQ) |
		       HU_DDW_IF(a.h, HU_DDW_ALL(0x1p-900), _CMP_NGT_UQ);
	__m512d y = HU_DDW_ALL(0), half = HU_DDW_ALL(0.5);
	hu_ddw z, s, c;

	for (int i = 0; i < HU_DDW_LANES; i++)
		y[i] = odd >> i & 1 ? 0 : hu_log(a.h[i]);
	z = hu_ddw_sub(hu_ddw_mul(a, hu_ddw_exp(hu_ddw_exactly(hu_ddw_lanes_neg(y)))), hu_ddw_of(1));
	__m512d most = hu_ddw_lanes_abs(z.h) + hu_ddw_lanes_abs(z.l) + z.e;
	odd |= HU_DDW_IF(most, HU_DDW_ALL(0x1p-20), _CMP_NLT_UQ);
	s = hu_ddw_mul(z, z);
	c = hu_ddw_mul(s, hu_ddw_mul(z, hu_ddw_literal2(0x1.5555555555555p-2, 0x1.5555555555555p-56)));
	s = scaled(s, half);
	s.e = s.e + HU_DDW_ALL(0x1p-1070);
	s = hu_ddw_add(hu_ddw_sub(z, s), c);
	__m512d left = most * most * most * most * HU_DDW_ALL(1 + 0x1p-40);
	left = _mm512_mask_add_pd(left, HU_DDW_IF(most, HU_DDW_ALL(0), _CMP_NEQ_UQ), left, HU_DDW_ALL(0x1p-1070));
	s.e = s.e + left;
	return hu_ddw_doubt(hu_ddw_add(hu_ddw_exactly(y), s), odd);
}

/* As tanh in dd.c; a.e is added where nothing else is left to be done. */
hu_ddw
hu_ddw_tanh(hu_ddw a)
{
	const __m512d zero = HU_DDW_ALL(0);
	__m512d size = hu_ddw_lanes_abs(a.h),
		sign = hu_ddw_lanes_pick(HU_DDW_IF(a.h, zero, _CMP_LT_OQ), HU_DDW_ALL(-1), HU_DDW_ALL(1));
	__mmask8 none = vanishing(a), odd = HU_DDW_IF(size, HU_DDW_ALL(50), _CMP_NLE_UQ);
	hu_ddw u, t;

	u = hu_ddw_exp((hu_ddw){ HU_DDW_ALL(-2) * sign * a.h, HU_DDW_ALL(-2) * sign * a.l, zero });
	t = hu_ddw_div(hu_ddw_sub(hu_ddw_of(1), u), hu_ddw_add(hu_ddw_of(1), u));
	t = (hu_ddw){ sign * t.h, sign * t.l, t.e * HU_DDW_ALL(1 + 0x1p-48) + a.e };
	return hu_ddw_choose(none, a, hu_ddw_doubt(t, odd));
}

hu_ddw
hu_ddw_sigmoid(hu_ddw a)
{
	__mmask8 odd = HU_DDW_IF(hu_ddw_lanes_abs(a.h), HU_DDW_ALL(INFINITY), _CMP_NLT_UQ),
		 below = HU_DDW_IF(a.h, HU_DDW_ALL(0), _CMP_LT_OQ);
	hu_ddw u = hu_ddw_exp(hu_ddw_choose(below, a, hu_ddw_neg(a))), one = hu_ddw_of(1);

	return hu_ddw_doubt(hu_ddw_div(hu_ddw_choose(below, u, one), hu_ddw_add(one, u)), odd);
}

#pragma GCC pop_options
#endif
