/* SPDX-License-Identifier: Apache-2.0
   P. Micikevicius, S. Narang, J. Alben, G. Diamos, E. Elsen, D. Garcia, B. Ginsburg, M. Houston, O. Kuchaiev,
   G. Venkatesh, H. Wu, Mixed precision training, ICLR 2018 (arXiv:1710.03740).
   Reproduced. Section 3.1, swamped updates: 1 + 0.0001 is 1 in fp16 and 1.00010001659393310546875 in fp32
   (settled values); an update is lost iff |d| < ulp(w)/2, or equal and w even, ulp(w)/4 toward zero from a power of
   two, so that the paper's ratio of 2048 slides up to 4096: with evenly spread significands 2 - 1/ln 2 = 55.73 %
   of the updates between them survive. Section 3.2, loss scaling, on a desk model of the
   gradients' histogram, |g| = 2^N(-22,5): the share that becomes zero in fp16 at scale 2^S is
   Phi((-25-S+22)/5), 27.43 % without scaling, 11.51 % at the scale of 8 that was enough for SSD, 0.016 % at 32K. */
#include "t/papers/gradients.h"

#include "lib/number/code.h"
#include "lib/number/round.h"

/* The value of w + d in F, and what the rule says of it. */
static int
lost_by_rule(double w, double d, uint64_t code, hu_format f)
{
	int e = hu_exponent(w), power = w == ldexp(1, e), toward = d < 0;
	double ulp = ldexp(1, (e < f.emin ? f.emin : e) - f.p + 1),
	       half = power && toward && e > f.emin ? ulp / 4 : ulp / 2;

	return fabs(d) < half || (fabs(d) == half && code % 2 == 0);
}

static void
swamped_updates(void)
{
	hu_format f = hu_format_of(HU_FP16);
	size_t wrong = 0, tried = 0;

	ok(hu_round(1 + 0.0001, f, HU_RNE, 0, 0) == 1, "fp16: 1 + 0.0001 is 1");
	ok((float)(1 + 0.0001) == 1.00010001659393310546875, "fp32: it is 1.00010001659393310546875");
	/* Every positive finite w but the largest, and updates about both thresholds */
	for (uint64_t code = 1; code < 0x7bff; code++) {
		double w = hu_decode(code, f), ulp = hu_decode(code + 1, f) - w, below = w - hu_decode(code - 1, f);
		static const double factor[] = { 0.25, 0.49, 0.5, 0.51, 1 };
		for (int k = 0; k < 5; k++) {
			double up = ulp * factor[k], down = -below * factor[k];
			wrong += (hu_round(w + up, f, HU_RNE, 0, 0) == w) != lost_by_rule(w, up, code, f);
			wrong += (hu_round(w + down, f, HU_RNE, 0, 0) == w) != lost_by_rule(w, down, code, f);
			tried += 2;
		}
	}
	is_int((long long)wrong, 0, "the rule for lost updates, of %zu in fp16", tried);
	/* log-uniform ratios between 2048 and 4096, w even over [1, 2) */
	size_t survive = 0, n = 1024, lost_above = 0, lost_below = 0;
	for (size_t i = 0; i < n; i++) {
		double w = 1 + (double)i / (double)n;
		for (size_t k = 0; k < n; k++)
			survive += hu_round(w + w / exp2(11 + (k + 0.5) / (double)n), f, HU_RNE, 0, 0) != w;
		lost_above += hu_round(w + w / 4096.5, f, HU_RNE, 0, 0) == w;
		lost_below += hu_round(w + w / 2047.5, f, HU_RNE, 0, 0) == w;
	}
	is_int((long long)lost_above, (long long)n, "beyond a ratio of 4096 every update is lost");
	is_int((long long)lost_below, 0, "below 2048 none");
	/* integral of log2 w over [1, 2); a grid of n is off by 1/n in each direction */
	is_near((double)survive / (double)(n * n), 2 - 1 / log(2), 2 / (double)n, "between them 55.7 %% survive");
}

static void
loss_scales(void)
{
	static const struct {
		int scale;
		double published;
	} rows[] = { { 0, 27.43 }, { 3, 11.51 }, { 10, 0.4661 }, { 15, 0.0159 } };

	for (int i = 0; i < 4; i++) {
		int s = rows[i].scale;
		json_t *row = inspect(-22, 5, s, "fp16");
		double phi = below((-25 - s + 22) / 5.0);
		is_near(phi, rows[i].published / 100, 0.00005, "scale 2^%d: Phi is %.4g %%", s, rows[i].published);
		is_near(share(row, "became_zero"), phi, 1.0 / GRADIENTS,
			"and that share of the gradients becomes zero in fp16");
		is_int(json_integer_value(json_object_get(row, "overflow")),
			lround(GRADIENTS * (1 - below((16 - s + 22) / 5.0))),
			"overflowing gradients, as many as lie above 2^16");
		json_decref(row);
	}
	/* Subnormals lose bits before they vanish: below 2^-14 */
	json_t *row = inspect(-22, 5, 0, "fp16");
	is_near(share(row, "became_zero") + share(row, "became_subnormal"), below((-14 + 22) / 5.0), 2.0 / GRADIENTS,
		"94.5 %% lie below fp16's normal range without scaling");
	json_decref(row);
}

int
main(void)
{
	swamped_updates();
	loss_scales();
	return done_testing();
}
