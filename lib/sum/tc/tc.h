/* SPDX-License-Identifier: Apache-2.0
   Tensor cores, bit for bit, from the parameters in tc.def: products are summed in blocks, each an exact integer sum
   of terms chopped to one common exponent. Host and device. Special values: a NaN operand, Inf * 0 and Inf - Inf
   give NaN, always the code with all bits but the sign set; otherwise an infinity wins. Overflow gives an infinity
   even where results are rounded toward zero. Every zero is +0, also that of a negative sum that vanishes in the
   rounding, as measured on an H200 (P29 in doc/measured/h200/probe.tsv). */
#ifndef HU_SUM_TC_H
#define HU_SUM_TC_H

#include "lib/number/round.h"
#include "lib/sum/sum.h"

#include <math.h>

enum { HU_TC_BLOCK, HU_TC_HALVES, HU_TC_CHAIN, HU_TC_SCALED, HU_TC_GROUPS };
/* Where a row's knowledge is from. V: a test of this project compares it with vectors of the hardware; P: with what the
   hardware answered to halfulp probe; M: measured elsewhere; S: two sources; O: one source; U: undecided; N: no such
   output. */
enum { HU_TC_V, HU_TC_P, HU_TC_M, HU_TC_S, HU_TC_O, HU_TC_U, HU_TC_N };

typedef struct hu_tc {
	hu_tc_arch arch;
	hu_format_id in;
	int paths, kind, l, f, keep, zero, status, status16; /* the columns of tc.def; kind -1: there is no such row */
} hu_tc;

/* Finds the row of this kind (-1: any without scales) for operands of format `in` on one of the paths (0: any). */
HU_HD_CALL hu_tc
hu_tc_row(hu_tc_arch arch, hu_format_id in, int paths, int kind)
{
	hu_tc none = { arch, in, 0, -1, 0, 0, 0, 0, HU_TC_N, HU_TC_N };

	paths = paths ? paths : HU_TC_PATHS;
#define TC(arch_, in_, paths_, kind_, l_, f_, keep_, zero_, s_, s16_, source_) \
	if (arch == HU_TC_##arch_ && in == HU_##in_ && (paths & (HU_TC_##paths_)) && \
		(kind < 0 ? HU_TC_##kind_ < HU_TC_SCALED : kind == HU_TC_##kind_)) { \
		hu_tc t = { HU_TC_##arch_, HU_##in_, HU_TC_##paths_, HU_TC_##kind_, l_, f_, keep_, zero_, HU_TC_##s_, \
			HU_TC_##s16_ }; \
		return t; \
	}
#include "lib/sum/tc/tc.def"
#undef TC
	return none;
}

HU_HD hu_tc hu_tc_of(hu_tc_arch arch, hu_format_id in, int paths) { return hu_tc_row(arch, in, paths, -1); }

/* The row of a tc model. Two fp4 operands with scales have an instruction of their own. */
HU_HD hu_tc
hu_tc_of_sum(hu_sum s)
{
	int fp4 = s.in == HU_E2M1 && (s.in2 == HU_E2M1 || s.in2 == HU_NO_FORMAT);

	return hu_tc_row(s.arch, s.in, s.path, !s.group ? -1 : fp4 ? HU_TC_GROUPS : HU_TC_SCALED);
}

/* A NaN whose float has the hardware's code 0x7fffffff; fp16's 0x7fff is the upper half of that. */
HU_HD double hu_tc_nan(void) { return hu_from_bits64(0x7fffffffe0000000u); }

/* An fp32 word as a tf32 operand. The instruction reads whole words of fp32 and takes no notice of their low 13 bits:
   they are dropped, toward zero, and no conversion rounds them first. (1 - 2^-24)^2 tells both apart: A100 and later
   return (1 - 2^-10 ...)^2, where rounding would give 1. So every command that gives a tensor core fp32 operands, or
   doubles, which are rounded to fp32 words, chops them here; rounding to the format tf32 (`round`, casts of the policy
   tf32, `accumulate`'s terms under --format tf32) is another operation, to nearest even, and happens before. A NaN
   whose payload lies in the low bits alone becomes an infinity (one source). */
HU_HD uint32_t hu_tc_tf32(uint32_t word) { return word & 0xffffe000u; }

/* Writes x as m * 2^(e - p + 1); below emin, m is not normalised. A zero has m = 0 and an e far below all exponents;
   an infinity has m = ±1 and a NaN m = 0, both with an e far above. Bits beyond p are chopped. */
enum { HU_TC_TINY = -(1 << 14), HU_TC_SPECIAL = 1 << 18 };

HU_HD void
hu_tc_split(double x, hu_format f, int32_t *m, int32_t *e)
{
	uint64_t u = hu_bits64(x), a = u & 0xfffffffffffffu;
	int field = (int)(u >> 52 & 0x7ff), drop = 53 - f.p;

	*e = field - 1023;
	if (field == 0x7ff) {
		*e = HU_TC_SPECIAL;
		*m = a ? 0 : 1;
	} else if (field == 0) {
		*e = HU_TC_TINY;
		*m = 0;
	} else {
		if (*e < f.emin) {
			drop += f.emin - *e;
			*e = f.emin;
		}
		*m = drop > 63 ? 0 : (int32_t)((a | 0x10000000000000u) >> drop);
		if (*m == 0)
			*e = HU_TC_TINY;
	}
	if (u >> 63)
		*m = -*m;
}

/* Returns s * 2^q rounded to `keep` fraction bits of the output format; a zero is +0. */
HU_HD double
hu_tc_finish(int64_t s, int q, hu_format out, int keep)
{
	uint64_t m = s < 0 ? (uint64_t)-s : (uint64_t)s, a = m;
	int e = q - 1, drop, shift;
	double r;

	if (!s)
		return 0;
#ifdef __CUDA_ARCH__
	for (; a; a >>= 1)
		e++;
#else
	(void)a;
	e += 64 - __builtin_clzll(m);
#endif
	if (e < out.emin)
		e = out.emin;
	drop = e - keep - q;
	if (drop > 0) {
		shift = drop > 63 ? 63 : drop;
		uint64_t low = m & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
		m >>= shift;
		if (out.p == 11) /* fp16: to nearest even */
			m += low > half || (low == half && (m & 1));
		q = e - keep;
	}
	r = (double)m * hu_pow2(q);
	if (r > out.max)
		r = hu_inf(0);
	return s < 0 && m ? -r : r;
}

/* The result of a block where an operand or the accumulator is not finite. */
HU_HD double
hu_tc_special(const int32_t *am, const int32_t *ae, const int32_t *bm, const int32_t *be, int n, int32_t cm, int32_t ce)
{
	int sign = 0; /* bits: 1 there is a +Inf, 2 there is a -Inf */

	for (int k = 0; k <= n; k++) {
		int e = k < n ? ae[k] + be[k] : ce;
		if (e < HU_TC_SPECIAL / 2)
			continue;
		int negative = k < n ? (am[k] < 0) != (bm[k] < 0) : cm < 0;
		if (k < n ? am[k] == 0 || bm[k] == 0 : cm == 0)
			return hu_tc_nan();
		sign |= negative ? 2 : 1;
	}
	return sign == 3 ? hu_tc_nan() : hu_inf(sign == 2);
}

/* Returns c plus one block of n products, computed in integers. am, ae and bm, be are the operands as hu_tc_split
   gives them, whose significands together have `fraction` fraction bits. lost[k] becomes 1 where product k is not 0
   and is chopped to nothing; lost may be NULL. */
HU_HD_CALL double
hu_tc_block(const int32_t *am, const int32_t *ae, const int32_t *bm, const int32_t *be, int n, int fraction, double c,
	hu_tc t, hu_format out, unsigned char *lost)
{
	int32_t cm, ce, emax = out.emin - t.zero;
	int64_t s = 0;

	hu_tc_split(c, out, &cm, &ce);
	emax = ce > emax ? ce : emax;
	for (int k = 0; k < n; k++) {
		int32_t e = ae[k] + be[k];
		emax = e > emax ? e : emax;
	}
	if (emax >= HU_TC_SPECIAL / 2)
		return hu_tc_special(am, ae, bm, be, n, cm, ce);
	for (int k = 0; k < n; k++) {
		int32_t v = am[k] * bm[k], d = emax - (ae[k] + be[k]);
		uint32_t m = ((uint32_t)(v < 0 ? -v : v) << (t.f - fraction)) >> (d > 31 ? 31 : d);
		s += v < 0 ? -(int64_t)m : (int64_t)m;
	}
	for (int k = 0; lost && k < n; k++) {
		int32_t v = am[k] * bm[k], d = emax - (ae[k] + be[k]);
		lost[k] = v != 0 && !(((uint32_t)(v < 0 ? -v : v) << (t.f - fraction)) >> (d > 31 ? 31 : d));
	}
	int shift = t.f - (out.p - 1) - (emax - ce);
	uint64_t m = (uint64_t)(cm < 0 ? -(int64_t)cm : (int64_t)cm);
	m = shift >= 0 ? m << shift : -shift > 63 ? 0 : m >> -shift;
	s += cm < 0 ? -(int64_t)m : (int64_t)m;
	return hu_tc_finish(s, emax - t.f, out, out.p == 11 ? 10 : t.keep);
}

/* The format in which the unit takes its operands inside. */
HU_HD hu_format hu_tc_inner(hu_tc t, hu_format in) { return t.kind == HU_TC_HALVES ? hu_format_of(HU_FP16) : in; }

/* Returns c + Σ a b over n products of operands that hu_tc_split has split in the format hu_tc_inner gives. out is
   fp32 or fp16, and c a value of it. lost has n flags or is NULL. t is not CHAIN or GROUPS; for SCALED the exponents
   must include those of the scales. */
HU_HD_CALL double
hu_tc_sum(const int32_t *am, const int32_t *ae, const int32_t *bm, const int32_t *be, size_t n, int fraction, double c,
	hu_tc t, hu_format out, unsigned char *lost)
{
	size_t step = (size_t)t.l * (t.kind == HU_TC_HALVES ? 2 : 1);

#ifdef __CUDA_ARCH__
	if (!step)
		return hu_tc_nan();
#else
	HU_ASSERT(t.kind != HU_TC_CHAIN && t.kind != HU_TC_GROUPS && step); /* hu_sum_resolve comes first */
#endif
	for (size_t k = 0; k < n; k += step) {
		int m = (int)(n - k < step ? n - k : step);
		if (t.kind != HU_TC_HALVES) {
			c = hu_tc_block(am + k, ae + k, bm + k, be + k, m, fraction, c, t, out, lost ? lost + k : lost);
			continue;
		}
		double acc = 0;
		/* A register holds four fp8 operands, whose pairs become two fp16 operands. */
		for (int set = 0; set < 2; set++) {
			int32_t pm[16], pe[16], qm[16], qe[16];
			unsigned char gone[16];
			int at = 0;
			for (int i = 2 * set; i < m; i += i % 2 ? 3 : 1, at++) {
				pm[at] = am[k + (size_t)i];
				pe[at] = ae[k + (size_t)i];
				qm[at] = bm[k + (size_t)i];
				qe[at] = be[k + (size_t)i];
			}
			acc = hu_tc_block(pm, pe, qm, qe, at, fraction, acc, t, out, lost ? gone : lost);
			for (int i = 2 * set, j = 0; lost && i < m; i += i % 2 ? 3 : 1)
				lost[k + (size_t)i] = gone[j++];
		}
		/* fp32 + fp32 and fp16 + fp16 in double, rounded again, are correctly rounded: 53 >= 2 p + 2 */
		acc += c;
		c = hu_isnan(acc) ? hu_tc_nan() : hu_round(acc, out, HU_RNE, 0, 0);
	}
	return c;
}
#endif
