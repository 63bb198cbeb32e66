/* SPDX-License-Identifier: Apache-2.0
   Tensor cores with block-scaled operands: tc.h with scales as arguments. Host and device; tc_scaled.c quantises
   arrays. Source: arXiv 2511.10909 and its model's code, the only source for all these rows. */
#ifndef HU_SUM_TC_SCALED_H
#define HU_SUM_TC_SCALED_H

#include "lib/sum/tc/tc.h"

#include <stddef.h>

enum { HU_TC_GROUP = 16 }; /* how many products GROUPS sums before any alignment */

/* Splits a scale, whose sign is ignored. An e8m0 scale has m = 1; an e4m3 scale has 4 significant bits, and a
   subnormal one is not normalised. Zero and NaN are as hu_tc_split gives them. */
HU_HD void
hu_tc_split_scale(double x, hu_format f, int32_t *m, int32_t *e)
{
	hu_tc_split(x < 0 ? -x : x, f, m, e);
}

/* Adds an e8m0 scale's exponent to an element's. A NaN scale makes the element NaN; a zero stays zero. */
HU_HD void
hu_tc_fold(int32_t *m, int32_t *e, int32_t scale_e)
{
	if (scale_e >= HU_TC_SPECIAL / 2) {
		*m = 0;
		*e = HU_TC_SPECIAL;
	} else if (*m || *e >= HU_TC_SPECIAL / 2) {
		*e += scale_e;
	}
}

/* Returns 1 where any of the n scales is NaN. */
HU_HD int
hu_tc_scale_nan(const int32_t *se, int n)
{
	for (int i = 0; i < n; i++)
		if (se[i] >= HU_TC_SPECIAL / 2)
			return 1;
	return 0;
}

/* Returns v * 2^(q - d), chopped toward zero; |v| < 2^20, q <= 27. */
HU_HD int64_t
hu_tc_chop(int64_t v, int q, int d)
{
	uint64_t m = (uint64_t)(v < 0 ? -v : v) << q;

	m = d > 63 ? 0 : m >> d;
	return v < 0 ? -(int64_t)m : (int64_t)m;
}

/* Returns c plus one block of GROUPS: n products of e2m1 numbers am * 2^(ae - 1). Each 16 of them share the scales
   sam * 2^sae and sbm * 2^sbe, whose significands have `share` fraction bits together (e4m3: 3 each, e8m0: 0). c is
   fp32. The products of a group add up to a multiple of 1/4 of at most 576; times the scales' significands that is
   below 2^19. lost[k] becomes 1 where product k, scaled, is not 0 and would alone be chopped to nothing; lost may be
   NULL. */
HU_HD double
hu_tc_groups(const int32_t *am, const int32_t *ae, const int32_t *bm, const int32_t *be, int n, const int32_t *sam,
	const int32_t *sae, const int32_t *sbm, const int32_t *sbe, int share, double c, hu_tc t, hu_format out,
	unsigned char *lost)
{
	int32_t cm, ce, emax = out.emin - t.zero;
	int64_t s = 0, p[64 / HU_TC_GROUP];
	int groups = (n + HU_TC_GROUP - 1) / HU_TC_GROUP, q = t.f - 2 - share;

	hu_tc_split(c, out, &cm, &ce);
	if (ce >= HU_TC_SPECIAL / 2 || hu_tc_scale_nan(sae, groups) || hu_tc_scale_nan(sbe, groups))
		return cm == 0 || hu_tc_scale_nan(sae, groups) || hu_tc_scale_nan(sbe, groups) ? hu_tc_nan() : c;
	emax = ce > emax ? ce : emax;
	for (int g = 0; g < groups; g++) {
		int any = 0, e = sae[g] + sbe[g], last = n < (g + 1) * HU_TC_GROUP ? n : (g + 1) * HU_TC_GROUP;
		p[g] = 0;
		for (int k = g * HU_TC_GROUP; k < last; k++)
			if (am[k] && bm[k]) {
				any = 1;
				p[g] += (int64_t)am[k] * bm[k] * (1 << (ae[k] + be[k]));
			}
		p[g] *= (int64_t)sam[g] * sbm[g];
		if (any && sam[g] && sbm[g] && e > emax) /* also where the group's products cancel */
			emax = e;
	}
	for (int g = 0; g < groups; g++)
		if (p[g])
			s += hu_tc_chop(p[g], q, emax - (sae[g] + sbe[g]));
	for (int k = 0; lost && k < n; k++) {
		int g = k / HU_TC_GROUP;
		int64_t v = am[k] && bm[k] ? (int64_t)am[k] * bm[k] * (1 << (ae[k] + be[k])) * sam[g] * sbm[g] : 0;
		lost[k] = v && !hu_tc_chop(v, q, emax - (sae[g] + sbe[g]));
	}
	int shift = t.f - (out.p - 1) - (emax - ce); /* C has fewer fraction bits than the aligned terms */
	int64_t m = cm < 0 ? -(int64_t)cm : cm;
	m = shift >= 0 ? m << shift : -shift > 63 ? 0 : m >> -shift;
	return hu_tc_finish(s + (cm < 0 ? -m : m), emax - t.f, out, t.keep);
}

/* Returns c + Σ a b over n elements with scales. Element k of a has the scale sa[k / s.group], of b likewise sb;
   NULL means that all scales are 1. s is resolved and has group > 0. Elements are values of s.in and s.in2, scales
   of s.scale, and c is fp32. lost has n flags or is NULL. */
HU_HD double
hu_tc_scaled(const double *a, const double *sa, const double *b, const double *sb, size_t n, double c, hu_sum s,
	unsigned char *lost)
{
	enum { STEP = 64 }; /* a multiple of every block and group */
	int32_t am[STEP], ae[STEP], bm[STEP], be[STEP], sm[2][STEP / HU_TC_GROUP], se[2][STEP / HU_TC_GROUP];
	hu_tc t = hu_tc_of_sum(s);
	hu_format out = hu_format_of(s.out), fa = hu_format_of(s.in), fb = hu_format_of(s.in2),
		  fs = hu_format_of(s.scale);

	for (size_t k = 0; k < n; k += STEP) {
		int m = (int)(n - k < STEP ? n - k : STEP);
		for (int g = 0; g * HU_TC_GROUP < m; g++) {
			size_t at = (k + (size_t)g * HU_TC_GROUP) / (size_t)s.group;
			hu_tc_split_scale(sa ? sa[at] : 1, fs, &sm[0][g], &se[0][g]);
			hu_tc_split_scale(sb ? sb[at] : 1, fs, &sm[1][g], &se[1][g]);
		}
		for (int i = 0; i < m; i++) {
			hu_tc_split(a[k + (size_t)i], fa, &am[i], &ae[i]);
			hu_tc_split(b[k + (size_t)i], fb, &bm[i], &be[i]);
			if (t.kind == HU_TC_GROUPS)
				continue;
			hu_tc_fold(&am[i], &ae[i], se[0][i / HU_TC_GROUP]);
			hu_tc_fold(&bm[i], &be[i], se[1][i / HU_TC_GROUP]);
		}
		if (t.kind == HU_TC_GROUPS)
			c = hu_tc_groups(am, ae, bm, be, m, sm[0], se[0], sm[1], se[1], 2 * (fs.p - 1), c, t, out,
				lost ? lost + k : lost);
		else
			c = hu_tc_sum(am, ae, bm, be, (size_t)m, fa.p + fb.p - 2, c, t, out, lost ? lost + k : lost);
	}
	return c;
}

/* Quantises `rows` rows of k numbers along k, as s's operands with elements of format `element` (s.in or s.in2).
   `to` receives the elements (rows x k) and scales their scales (rows x ceil(k / s.group)). *whole is the fp32 scale
   over the array that nvfp4 has besides (else 1); the unit does not see it, so the caller multiplies the sum by it.
   Rounding is as in lib/number/block/block.h. HU_ENOMEM where there is no memory. */
hu_status hu_tc_quantise(hu_sum s, hu_format_id element, const float *x, size_t rows, size_t k, double *to,
	double *scales, double *whole);
#endif
