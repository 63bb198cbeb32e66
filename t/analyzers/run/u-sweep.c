/* SPDX-License-Identifier: Apache-2.0
   The loss-scale sweep against rounding every element at every scale. */
#include "analyzers/run/sweep.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000 };

static double values[N];

/* Magnitudes around both ends of the range, powers of two, ties and zeros. */
static void
fill(hu_format f, uint64_t seed)
{
	for (uint32_t i = 0; i < N; i++) {
		hu_random r = hu_random_at(seed, 1, 0, i);
		int e = (int)(r.w[2] % 60) - 40;
		double m = r.w[3] % 5 == 0 ? 1 : r.w[3] % 5 == 1 ? 1.5 : 1 + hu_uniform(r);
		values[i] = i % 17 == 0 ? 0 : ldexp((r.w[3] & 32) ? -m : m, e);
		if (i % 29 == 0)
			values[i] = ldexp(hu_sweep_threshold(f), -(int)(r.w[2] % 30)); /* exactly a tie at some scale */
	}
}

static int
agrees(const hu_scale_sweep *s, hu_format f, int k)
{
	size_t lost = 0, overflow = 0, got_lost, got_over;
	long double lost2 = 0, all2 = 0;
	double share;

	for (int i = 0; i < N; i++) {
		double x = values[i], y = hu_round(ldexp(x, k), f, HU_RNE, 0, 0);
		all2 += (long double)x * x;
		if (x != 0 && y == 0) {
			lost++;
			lost2 += (long double)x * x;
		}
		overflow += !hu_isfinite(y);
	}
	hu_sweep_at(s, k, &got_lost, &got_over, &share);
	double want = (double)sqrtl(lost2 / all2);
	/* sums of the same N squares in another order, in long double: N * 2^-64 */
	return lost == got_lost && overflow == got_over && fabs(share - want) <= want * N * 0x1p-60;
}

static int
lost_too_much(const hu_scale_sweep *s, int k, double share, double u)
{
	size_t lost, overflow;
	double l2;

	hu_sweep_at(s, k, &lost, &overflow, &l2);
	return (double)lost > share * (double)s->nonzeros || l2 > u;
}

/* Elements together, over a loss scale, are each over it. */
static void
together(hu_scale_sweep *s)
{
	hu_scale_sweep *each = calloc(1, sizeof *each);
	hu_format f = hu_format_of(HU_FP16);

	fill(f, 3);
	values[5] = INFINITY;
	values[6] = NAN;
	memset(s, 0, sizeof *s);
	size_t bad = hu_sweep_add_all(s, values, N, 24, f);
	for (int k = 0; k < N; k++)
		hu_sweep_add(each, values[k] / 24, f);
	ok(bad == 2 && !memcmp(s, each, sizeof *s) && s->nonzeros > N / 2,
		"%d elements over a loss scale, of which two are no numbers, are those one by one", N);
	free(each);
}

int
main(void)
{
	static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_E4M3, HU_E5M2 };
	hu_scale_sweep *s = calloc(1, sizeof *s);

	together(s);
	is_near(hu_sweep_threshold(hu_format_of(HU_FP16)), 65520, 0, "fp16 overflows from 65520 on");
	for (int i = 0; i < 4; i++) {
		hu_format f = hu_format_of(formats[i]);
		int all = 1, min, max;
		size_t lost, overflow;
		double l2;
		fill(f, 7 + (uint64_t)i);
		memset(s, 0, sizeof *s);
		for (int k = 0; k < N; k++)
			hu_sweep_add(s, values[k], f);
		for (int k = -60; k <= 60; k++)
			all &= agrees(s, f, k);
		ok(all, "%s: lost and overflowing elements at 121 scales are those of rounding each",
			hu_format_name(f.id));
		hu_sweep_safe(s, 1e-2, hu_unit(f), &min, &max);
		ok(!lost_too_much(s, min, 1e-2, hu_unit(f)) && lost_too_much(s, min - 1, 1e-2, hu_unit(f)),
			"%s: 2^%d is the smallest scale that keeps enough", hu_format_name(f.id), min);
		hu_sweep_at(s, max, &lost, &overflow, &l2);
		int none = overflow == 0;
		hu_sweep_at(s, max + 1, &lost, &overflow, &l2);
		ok(none && overflow > 0, "%s: 2^%d is the largest scale without an overflow", hu_format_name(f.id),
			max);
	}
	memset(s, 0, sizeof *s);
	hu_sweep_add(s, 0, hu_format_of(HU_FP16));
	hu_sweep_add(s, NAN, hu_format_of(HU_FP16));
	int min, max;
	ok(!hu_sweep_safe(s, 1e-3, 0x1p-11, &min, &max), "nothing but a zero and a NaN: no interval");
	/* e4m3 has 2^17 between its least number and its largest: of two numbers 2^10 apart both fit, of 2^30 not */
	for (int apart = 10; apart <= 30; apart += 20) {
		hu_format f = hu_format_of(HU_E4M3);
		memset(s, 0, sizeof *s);
		hu_sweep_add(s, 1, f);
		hu_sweep_add(s, ldexp(1, apart), f);
		int found = hu_sweep_safe(s, 0, 0, &min, &max);
		ok(found == (min <= max) && found == (apart == 10), "1 and 2^%d: %s (2^%d to 2^%d)", apart,
			found ? "an interval" : "none", min, max);
	}
	free(s);
	return done_testing();
}
