/* SPDX-License-Identifier: Apache-2.0
   Verdicts from enclosures against verdicts from MPFR, bit for bit, wherever the enclosure claims
   to decide: exact ones, wide ones with the value anywhere inside, at ties, powers of two,
   zeros, subnormals and on the bound itself. And the errors of a tensor from its values as they come. */
#include "lib/judge/errors.h"
#include "lib/judge/verdict/verdict.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400000 };

static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32, HU_E4M3, HU_FP64 };

static uint64_t at;

static uint32_t
draw(uint32_t n)
{
	return hu_random_at(77, 5, 0, at++).w[0] % n;
}

static double
uniform(void)
{
	return hu_uniform(hu_random_at(77, 6, 0, at++));
}

/* A double near the formats' numbers: short ones, powers of two, any. */
static double
number(hu_format f)
{
	int e = (int)draw(40) - 20 + (draw(8) ? 0 : f.emin < -900 ? 0 : f.emin);
	double m = 1 + uniform();

	switch (draw(5)) {
	case 0: m = 1; break;
	case 1: m = hu_round(m, f, HU_RNE, 0, 0); break;
	case 2: m = hu_round(m, f, HU_RNE, 0, 0) + hu_pow2(-f.p); break; /* halfway */
	case 3: m = draw(3) ? m : 0; break;
	default: break;
	}
	return ldexp(draw(2) ? m : -m, e);
}

typedef struct found {
	size_t decided, exact, wrong, over;
	char what[300];
} found;

static int
same(const hu_ziv *a, const hu_ziv *b)
{
	return hu_bits64(a->exact) == hu_bits64(b->exact) && a->rounded == b->rounded && a->error == b->error &&
	       a->ulps == b->ulps && a->over == b->over;
}

/* The same values in blocks, by every instruction set there is: what they claim to know is hu_ziv_enclosed's. */
static hu_verdict_block block;
static int filled;
static size_t blocks_known, blocks_wrong, differences_known, differences_could, differences_wrong;

/* A block's differences from what was recorded beside hu_ziv_difference. */
static void
differences(const hu_verdicts *by)
{
	memset(block.known, 0, sizeof block.known);
	by->difference(&block);
	for (int i = 0; i < HU_VERDICT_BLOCK; i++) {
		double d;
		int could = hu_ziv_difference(&d, block.hi[i], block.lo[i], block.err[i], block.got[i]);
		differences_could += could != 0;
		differences_known += block.known[i] != 0;
		differences_wrong += block.known[i] && !(could && hu_bits64(d) == hu_bits64(block.error[i]));
	}
}

static void
by_blocks(hu_format f, double hi, double lo, double err, double got, double bound)
{
	static const hu_verdicts *const all[] = {
		&hu_verdicts_scalar,
#if defined(__x86_64__)
		&hu_verdicts_avx2,
		&hu_verdicts_avx512
#endif
	};

	block.hi[filled] = hi;
	block.lo[filled] = lo;
	block.err[filled] = err;
	block.got[filled] = got;
	block.bound[filled] = bound;
	if (++filled < HU_VERDICT_BLOCK)
		return;
	filled = 0;
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		if (k && !hu_simd_has(k == 1 ? HU_SIMD_AVX2 : HU_SIMD_AVX512))
			continue;
		memset(block.known, 0, sizeof block.known);
		all[k]->judge(&block, f.emin, f.p);
		for (int i = 0; i < HU_VERDICT_BLOCK; i++) {
			hu_ziv a, b = { block.exact[i], block.rounded[i], block.error[i], block.ulps[i],
				(int)block.over[i] };
			if (!block.known[i])
				continue;
			blocks_known++;
			blocks_wrong += !hu_ziv_enclosed(&a, block.hi[i], block.lo[i], block.err[i], block.got[i],
						block.bound[i], f) ||
					!same(&a, &b);
		}
		differences(all[k]);
	}
}

/* Values to nearest: how many enclosures have one double for both of their ends, how many of these hu_ziv_rounded
   decides, and how often by another double than that of the ends. */
static size_t nearest_could, nearest_known, nearest_wrong;

static void
to_nearest(double hi, double lo, double err)
{
	double x, end[2];
	mpfr_t e;

	mpfr_init2(e, 4000);
	for (int k = 0; k < 2; k++) {
		mpfr_set_d(e, hi, MPFR_RNDN);
		mpfr_add_d(e, e, lo, MPFR_RNDN);
		mpfr_add_d(e, e, k ? err : -err, MPFR_RNDN);
		end[k] = mpfr_get_d(e, MPFR_RNDN);
	}
	mpfr_clear(e);
	nearest_could += end[0] == end[1];
	if (!hu_ziv_rounded(&x, hi, lo, err))
		return;
	nearest_known++;
	nearest_wrong += !(x == end[0] && x == end[1]);
}

static void
one(found *x, hu_format f, int kind)
{
	double hi = number(f), lo = 0, err = 0, got, bound, inside;
	hu_ziv a, b;
	mpfr_t v;

	if (draw(3)) {
		lo = hi * (uniform() - 0.5) * hu_pow2(-52 - (int)draw(30)) * 0.99;
		lo = draw(4) ? lo : hi * hu_pow2(-54 - (int)draw(40)); /* a tie further down, a power of two */
		lo = draw(2) ? lo : -lo;
		hi += 0 * lo;
		double s = hi + lo;
		lo = (hi - s) + lo;
		hi = s;
	}
	if (kind)
		err = fabs(hi) * hu_pow2(-60 - (int)draw(60)) * (draw(9) ? 1 : 0);
	if (kind == 2)
		err = fabs(hi) * hu_pow2(-40 - (int)draw(12));
	/* Recorded: right, an ulp off, anything. */
	got = hu_round(hi, f, draw(2) ? HU_RNE : HU_RZ, 0, 0);
	if (draw(4) == 0)
		got += ldexp((double)draw(5) - 2, hu_ulp_exponent(hi, f));
	if (draw(30) == 0)
		got = number(f);
	inside = err * (draw(3) ? 2 * uniform() - 1 : draw(2) ? 1 : -1);
	mpfr_init2(v, 4000);
	mpfr_set_d(v, hi, MPFR_RNDN);
	mpfr_add_d(v, v, lo, MPFR_RNDN);
	mpfr_add_d(v, v, inside, MPFR_RNDN);
	bound = fabs(got - hi) * (draw(2) ? 1 : draw(2) ? 0x1.fffffffffffffp-1 : 0x1.0000000000001p0);
	if (draw(4) == 0)
		bound = draw(3) ? ldexp(0.5, hu_ulp_exponent(hi, f)) : INFINITY;
	hu_ziv_mpfr(&b, v, got, bound, f);
	by_blocks(f, hi, lo, err, got, bound);
	to_nearest(hi, lo, err);
	to_nearest(hi, lo, fabs(hi) * uniform() * 0x1.8p-53); /* about as wide as a gap */
	if (hu_ziv_enclosed(&a, hi, lo, err, got, bound, f)) {
		x->decided++;
		x->exact += err == 0;
		x->over += (size_t)a.over;
		if (!same(&a, &b) && !x->wrong++)
			snprintf(x->what, sizeof x->what,
				"%a + %a within %a, got %a, bound %a: %a %a %a %a %d, MPFR %a %a %a %a %d", hi, lo, err,
				got, bound, a.exact, a.rounded, a.error, a.ulps, a.over, b.exact, b.rounded, b.error,
				b.ulps, b.over);
	}
	mpfr_clear(v);
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Tiles in another order than the elements', against one pass over all. */
static void
tallies(size_t n, int many_equal)
{
	double *ulps = hu_xmalloc(n * sizeof *ulps), *sorted = hu_xmalloc(n * sizeof *sorted),
	       *ones = hu_xmalloc(n * sizeof *ones);
	size_t *element = hu_xmalloc(n * sizeof *element), worst = 0;
	double *error = hu_xmalloc(n * sizeof *error);
	unsigned char *over = hu_xcalloc(n, 1);
	hu_errors_sum s;
	hu_errors m;
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		ulps[i] = sorted[i] = many_equal ? (double)draw(3) : ldexp(uniform(), (int)draw(20) - 15);
		element[i] = i;
		ones[i] = 1;
		error[i] = ulps[i] * 0x1p-11;
		over[i] = ulps[i] > 1;
		sum += ulps[i];
		worst = ulps[i] > ulps[worst] ? i : worst;
	}
	qsort(sorted, n, sizeof *sorted, ascending);
	hu_errors_begin(&s, n, n);
	size_t tile = n / 7 + 1;
	for (size_t k = (n + tile - 1) / tile; k-- > 0;) {
		size_t first = k * tile, m2 = n - first < tile ? n - first : tile;
		hu_judging some = { m2, element + first, element + first, ones + first, ones + first, ones + first,
			ones + first, error + first, ulps + first, over + first, NULL };
		hu_errors_add(&s, &some);
	}
	hu_errors_end(&m, &s);
	ok(m.ulp_p99 == sorted[(size_t)ceil(0.99 * (double)n) - 1] && m.ulp_max == sorted[n - 1] && m.worst == worst &&
			fabs(m.ulp_mean - (double)(sum / (long double)n)) <= m.ulp_mean * 0x1p-52,
		"%zu values%s, tile by tile: percentile, largest, its first place and mean", n,
		many_equal ? ", many alike" : "");
	free(ulps);
	free(sorted);
	free(ones);
	free(element);
	free(error);
	free(over);
}

/* A value of the exact step, near or far from a power of two, and what was recorded of it. */
static void
step_value(hu_verdict_steps *b, int i, hu_format f)
{
	double hi = ldexp(0.5 + uniform() / 2, (int)draw(30) - 15), lo = 0, err = 0;

	if (draw(200) == 0)
		hi = draw(2) ? number(f) : 0;
	if (draw(3))
		lo = hi * (uniform() - 0.5) * 0x1p-53;
	if (draw(3))
		err = fabs(hi) * hu_pow2(-42 - (int)draw(60)); /* narrow enough for the quick loop */
	b->hi[i] = hi;
	b->lo[i] = lo;
	b->err[i] = err;
	b->got[i] = draw(5) ? hu_round(hi * (1 + (double)draw(9) * 0x1p-9), f, HU_RNE, 0, 0) : hi;
}

/* Blocks of the exact step's values, by the quick loop where no power of two is near, beside the same values in a block
   that another one keeps from it. */
static void
steps(hu_format f)
{
	static const hu_verdicts *const all[] = {
		&hu_verdicts_scalar,
#if defined(__x86_64__)
		&hu_verdicts_avx2,
		&hu_verdicts_avx512
#endif
	};
	static hu_verdict_steps a, b;
	size_t wrong = 0, compared = 0, odd = 0;

	for (int r = 0; r < 3000; r++) {
		size_t k = r % (sizeof all / sizeof *all);
		if (k && !hu_simd_has(k == 1 ? HU_SIMD_AVX2 : HU_SIMD_AVX512))
			continue;
		for (int i = 0; i < HU_VERDICT_BLOCK; i++)
			step_value(&a, i, f);
		b = a;
		b.hi[7] = 0x1p500; /* neither loop answers for it */
		all[k]->step(&a, f.emin, f.p);
		all[k]->step(&b, f.emin, f.p);
		for (int i = 0; i < HU_VERDICT_BLOCK; i++) {
			if (i == 7)
				continue;
			compared++;
			odd += !a.plain[i];
			wrong += a.plain[i] != b.plain[i] || (a.plain[i] &&
				(hu_bits64(a.size[i]) != hu_bits64(b.size[i]) || a.error[i] != b.error[i] ||
					a.off[i] != b.off[i] || a.ulps[i] != b.ulps[i] ||
					a.off_ulps[i] != b.off_ulps[i]));
		}
	}
	ok(!wrong && compared > 100000 && odd < compared / 4,
		"%s: %zu values of the exact step by the quick loop, %zu of them otherwise than by the other",
		hu_format_name(f.id), compared, wrong);
}

int
main(void)
{
	static const char *const kinds[] = { "exact pairs", "narrow enclosures", "wide enclosures" };

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		for (int kind = 0; kind < 3; kind++) {
			found x = { .what = "" };
			for (int r = 0; r < ROUNDS / 10; r++)
				one(&x, hu_format_of(formats[i]), kind);
			if (!ok(!x.wrong && x.decided > (size_t)(kind == 2 ? 100 : ROUNDS / 100) &&
					    (x.over || kind == 2),
				    "%s, %s: %zu of %d decided, all as MPFR decides (%zu over their bound)",
				    hu_format_name(formats[i]), kinds[kind], x.decided, ROUNDS / 10, x.over))
				diag("%zu wrong, the first: %s", x.wrong, x.what);
		}
	ok(!nearest_wrong && nearest_known <= nearest_could && nearest_known + nearest_could / 1000 > nearest_could,
		"of %zu enclosures whose values have one nearest double %zu are decided, %zu of them wrongly",
		nearest_could, nearest_known, nearest_wrong);
	ok(!blocks_wrong && blocks_known > 200000,
		"%zu verdicts by blocks, on every instruction set there is: those of one at a time", blocks_known);
	ok(!differences_wrong && differences_known > 200000 && differences_known == differences_could,
		"%zu differences by blocks: those of one at a time, %zu of them wrongly", differences_known,
		differences_wrong);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		steps(hu_format_of(formats[i]));
	for (size_t n = 1; n < 200000; n = n * 3 + 1) {
		tallies(n, 0);
		tallies(n, 1);
	}
	return done_testing();
}
