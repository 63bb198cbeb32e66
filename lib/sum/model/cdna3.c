/* SPDX-License-Identifier: Apache-2.0
   cdna3: what the matrix cores of AMD's MI300 do. A block is 8 products of fp16 or bf16, 4 of xf32 (in=tf32: words of
   fp32 whose low 13 bits are dropped), or 16 of fnuz fp8. Products are chopped to 24 fraction bits below their own
   largest exponent and added exactly; of fp8 those of even and of odd k apart, and both sums are rounded down to 24
   bits below the larger exponent. Then that sum is rounded down to 31 bits, and the accumulator to 24, below the larger
   of both exponents; they are added and rounded once to fp32, to nearest even. Sources: MMA-Sim (arXiv 2511.10909),
   arXiv 2512.07004. Disputed are the 31 bits (a revision has 32, and 31 after the addition) and what exponent a zero
   product has (here none). The sign of a zero is not known: it is +0 here. doc/cdna.md has questions for a card. */
#include "lib/sum/cdna/wide.h"
#include "lib/sum/model/run.h"

enum { HU_CDNA3_FRACTION = 24, HU_CDNA3_WIDE = 31, HU_CDNA3_MOST = 16 };

HU_HD size_t
hu_cdna3_block(hu_sum s)
{
	return s.in == HU_TF32 ? 4 : s.in == HU_E4M3FNUZ || s.in == HU_E5M2FNUZ ? HU_CDNA3_MOST : 8;
}

/* floor(x 2^-shift). */
HU_HD int64_t
hu_cdna3_down(int64_t x, int shift)
{
	if (shift <= 0)
		return x * ((int64_t)1 << -shift);
	if (shift > 62)
		return x < 0 ? -1 : 0;
	return x >= 0 ? x >> shift : -((-x + ((int64_t)1 << shift) - 1) >> shift);
}

/* The sum of every `step`-th of m products from number `first` on, in units of 2^(*e - 24), each chopped toward zero.
   *e is their largest exponent. Bit k of *lost is set where product k is chopped to nothing. */
HU_HD int64_t
hu_cdna3_products(const int32_t *v, const int32_t *pe, size_t first, size_t m, size_t step, int fraction, int *e,
	unsigned *lost)
{
	int64_t sum = 0;

	*e = 2 * HU_TC_TINY;
	for (size_t k = first; k < m; k += step)
		*e = v[k] && pe[k] > *e ? pe[k] : *e;
	for (size_t k = first; k < m; k += step) {
		int d = *e - pe[k];
		uint32_t u = (uint32_t)(v[k] < 0 ? -v[k] : v[k]) << (HU_CDNA3_FRACTION - fraction);
		uint32_t x = v[k] ? u >> (d > 31 ? 31 : d) : 0;
		sum += v[k] < 0 ? -(int64_t)x : (int64_t)x;
		*lost |= (unsigned)(v[k] && !x) << k;
	}
	return sum;
}

/* c + Σ a b over a block of m products. */
HU_HD double
hu_cdna3_add(const double *a, const double *b, size_t m, double c, hu_sum s, unsigned *lost)
{
	int32_t v[HU_CDNA3_MOST], pe[HU_CDNA3_MOST], cm, ce;
	hu_format fa = hu_format_of(s.in), fb = hu_format_of(s.in2), out = hu_format_of(HU_FP32);
	int fraction = fa.p + fb.p - 2, fp8 = hu_cdna3_block(s) == HU_CDNA3_MOST, e, other;
	int64_t sum, odd;
	double plain = c;

	for (size_t k = 0; k < m; k++) {
		int32_t am, ae, bm, be;
		hu_tc_split(a[k], fa, &am, &ae);
		hu_tc_split(b[k], fb, &bm, &be);
		v[k] = am * bm;
		pe[k] = ae + be;
		double p = !hu_isfinite(a[k]) || !hu_isfinite(b[k]) ? a[k] * b[k]
			   : v[k]                                     ? (double)v[k] * hu_pow2(pe[k] - fraction)
								      : 0;
		plain += fabs(p) >= 0x1p128 ? hu_inf(p < 0) : p;
	}
	if (!hu_isfinite(plain))
		return hu_isnan(plain) ? hu_nan() : plain;
	sum = hu_cdna3_products(v, pe, 0, m, fp8 ? 2 : 1, fraction, &e, lost);
	if (fp8) {
		odd = hu_cdna3_products(v, pe, 1, m, 2, fraction, &other, lost);
		int most = e > other ? e : other;
		sum = hu_cdna3_down(sum, most - e) + hu_cdna3_down(odd, most - other);
		e = most;
	}
	hu_tc_split(c, out, &cm, &ce);
	if (ce < out.emin) /* a zero has the exponent of the smallest numbers */
		ce = out.emin;
	int top = e > ce ? e : ce;
	sum = hu_cdna3_down(sum, top - e - (HU_CDNA3_WIDE - HU_CDNA3_FRACTION));
	if (!fp8 || ce >= top - HU_CDNA3_FRACTION - 1)
		sum += hu_cdna3_down(cm, top - ce - 1) * (1 << (HU_CDNA3_WIDE - HU_CDNA3_FRACTION));
	return hu_round(sum ? (double)sum * hu_pow2(top - HU_CDNA3_WIDE) : 0, out, HU_RNE, 0, 0);
}

HU_HD_CALL double
hu_cdna3_from(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	size_t step = hu_cdna3_block(s);

	for (size_t k = 0; k < n; k += step) {
		unsigned lost = 0;
		size_t m = n - k < step ? n - k : step;
		double next = hu_cdna3_add(a + k, b + k, m, c, s, &lost);
		hu_cdna_count(count, a, b, k, m, c, next, lost);
		c = next;
	}
	return c;
}

HU_SUM_RUN(cdna3)
{
	(void)draw;
	return hu_cdna3_from(a, b, n, 0, s, count);
}

#ifndef __cplusplus
#include "lib/sum/cdna/units.h"
#include "lib/sum/model/row.h"

/* For normal operands, where no product's exponent exceeds its magnitude: a block chops all products at 2^-24 of the
   largest, of fp8 rounds two sums down there; rounds the accumulator down at 2^-24 and the products' sum at 2^-31 of
   the larger, none below 2^-150; and rounds to nearest. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double l = (double)hu_cdna3_block(s), m = l < n ? l : n, blocks = ceil(n / l);
	hu_sum_bound x = { hu_bound_growth((m + 3) * 0x1p-24 + 0x1p-31 + u, blocks), 0, 0, 0 };

	(void)outer_u;
	x.absolute = 4 * blocks * (1 + x.relative);
	x.peak = 1 + x.relative;
	return x;
}

/* The same from the operands' exponents, for subnormal ones too. *mag begins as the magnitude of what is there. */
static double
one_part(hu_sum s, const double *a, const double *b, size_t n, double *mag)
{
	hu_format fa = hu_format_of(s.in), fb = hu_format_of(s.in2);
	size_t step = hu_cdna3_block(s);
	double error = 0;

	for (size_t k = 0; k < n; k += step) {
		double most = 0, moved = 0, before = *mag + error;
		size_t m = n - k < step ? n - k : step;
		for (size_t i = k; i < k + m; i++) {
			int32_t am, ae, bm, be;
			if (!hu_isfinite(a[i]) || !hu_isfinite(b[i]))
				return INFINITY;
			hu_tc_split(a[i], fa, &am, &ae);
			hu_tc_split(b[i], fb, &bm, &be);
			double p = am && bm ? ldexp((double)am * bm, ae + be - fa.p - fb.p + 2) : 0,
			       e = am && bm ? ldexp(1, ae + be) : 0;
			most = e > most ? e : most;
			moved += fabs(fma(a[i], b[i], -p)); /* words of fp32 are cut to xf32 */
			*mag += fabs(a[i] * b[i]);
		}
		double top = most > before ? most : before;
		top = top > 0x1p-126 ? top : 0x1p-126;
		error += moved + (((double)m + 2) * most + top) * 0x1p-24 + top * 0x1p-31;
		error = (error + (*mag + error) * 0x1p-24 + 0x1p-150) * HU_BOUND_UP;
	}
	return error;
}

static hu_sum_bound
bound_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	return hu_bound_by_parts(one_part, s, a, b, n, part, c);
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "the unit chops products and rounds sums down, so that errors have a sign of their own";
}

/* What lies in a block with a large product, or with a large accumulator, vanishes beside it wherever it stands, so
   that a block adds its terms and the accumulator at once. */
static hu_order *
order(hu_sum s, size_t n)
{
	return hu_order_blocks(n, hu_cdna3_block(s));
}

static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_TF32, HU_E4M3FNUZ, HU_E5M2FNUZ, HU_FP32, HU_FP64,
	HU_NO_FORMAT };

const hu_sum_model hu_sum_model_cdna3 = {
	.words = "fp16, bf16, tf32 or fnuz fp8 (in=) by the matrix cores of AMD's MI300: products chopped and added, "
		 "then the accumulator, both rounded down. By published models, disputed in part; not held to silicon",
	.run = hu_sum_run_cdna3,
	.bound = bound,
	.bound_of = bound_of,
	.from = hu_cdna3_from,
	.roundings = roundings,
	.order = order,
	.unit = HU_CDNA_UNIT(formats, hu_cdna_key, hu_cdna_variants),
};
#endif
