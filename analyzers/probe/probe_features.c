/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/probe/probe_features.h"

#include <math.h>

enum { MOST = 128 };

/* Returns c + the sum of n products p, those below 1 as 2 p times a half; fp64's chain starts with c times 1. */
static double
sum(hu_sum s, const double *p, size_t n, double c)
{
	double a[MOST + 1] = { 0 }, b[MOST + 1] = { 0 };
	int chain = hu_tc_of_sum(s).kind == HU_TC_CHAIN;
	size_t m = 0;

	if (chain) {
		a[m] = c;
		b[m++] = 1;
	}
	for (size_t k = 0; k < n; k++) {
		int low = !chain && fabs(p[k]) < 1;
		a[m] = low ? 2 * p[k] : p[k];
		b[m++] = low ? 0.5 : 1;
	}
	return chain ? hu_model_run(a, b, m, s, NULL, NULL) : hu_model_tc(a, b, m, c, s, NULL);
}

int
hu_probe_is_narrow(hu_sum s)
{
	return hu_format_of(s.in).bits < 8 || hu_format_of(s.in2).bits < 8;
}

/* Returns c + x * x, where both operands are x. */
static double
square(hu_sum s, double x, double c)
{
	double a[2] = { c, x }, b[2] = { 1, x };

	return hu_tc_of_sum(s).kind == HU_TC_CHAIN ? hu_model_run(a, b, 2, s, NULL, NULL)
						   : hu_model_tc(&x, &x, 1, c, s, NULL);
}

/* Returns the precision of the operand with fewer bits. */
static int
digits(hu_sum s)
{
	int p = hu_format_of(s.in).p, q = hu_format_of(s.in2).p;

	return p < q ? p : q;
}

/* Finds carry bits with equal terms, which C equals too: the sum is exact where enough bits above the largest term
   exist. */
static int
carries(hu_sum s, int length)
{
	double x = digits(s) > 2 ? 1.75 : 1.5, p[MOST];
	int bits = 0;

	for (int n = 0; n < MOST; n++)
		p[n] = x;
	for (int n = 1; n <= length && n < MOST && sum(s, p, (size_t)n, x) == x * (n + 1); n++)
		bits = ilogb(x * (n + 1));
	return bits;
}

/* Finds how many carry bits the accumulator keeps between additions: none where a number just below 1 and three halves
   of the ulp there give no more than 1. */
static int
chain_carries(hu_sum s)
{
	const double tiny[3] = { 0x1p-53, 0x1p-53, 0x1p-53 };

	return sum(s, tiny, 3, 1 - 0x1p-53) > 1;
}

static void
row(json_t *o, const char *name, json_t *value)
{
	json_object_set_new(o, name, value);
}

void
hu_probe_products(json_t *o, hu_sum s, int length)
{
	int p = digits(s), kind = hu_tc_of_sum(s).kind;
	double x = 2 - ldexp(1, 1 - p); /* x * x = 4 - 2^(3-p) + 2^(2-2p): its last bit remains when the others
					   cancel */

	row(o, "products exact", json_string(square(s, x, ldexp(1, 3 - p) - 4) == ldexp(1, 2 - 2 * p) ? "yes" : "no"));
	if (kind == HU_TC_CHAIN)
		row(o, "carry bits, at least", json_integer(chain_carries(s)));
	else if (kind == HU_TC_HALVES)
		row(o, "carry bits, at least", json_string("unseen: a block starts from 0"));
	else
		row(o, "carry bits, at least", json_integer(carries(s, length)));
}

void
hu_probe_chain(json_t *o, hu_sum s)
{
	const double ulp = 0x1p-52, one[1] = { 1 }, quarter[1] = { ulp / 4 }, three[1] = { 0.75 * ulp },
		     half[1] = { ulp / 2 }, tiny[1] = { 0x1p-1074 }, pair[2] = { 1, ulp / 4 },
		     halves[2] = { ulp / 2, ulp / 2 };
	int keep = 0;

	while (keep < 60) {
		const double next[1] = { ldexp(1, -keep - 1) };
		if (sum(s, next, 1, 1) == 1)
			break;
		keep++;
	}
	int nearest = sum(s, quarter, 1, 1) == 1 && sum(s, three, 1, 1) == 1 + ulp && sum(s, half, 1, 1) == 1 &&
		      sum(s, half, 1, 1 + ulp) == 1 + 2 * ulp;
	row(o, "input subnormals", json_string(sum(s, tiny, 1, 0) == tiny[0] ? "kept" : "flushed"));
	row(o, "output subnormals", json_string(sum(s, tiny, 1, tiny[0]) == 2 * tiny[0] ? "kept" : "flushed"));
	row(o, "products in a block",
		json_integer(sum(s, halves, 2, 1) == 1 ? 1 : 2)); /* both halves of an ulp together would move 1 */
	row(o, "fraction bits of the output", json_integer(keep));
	row(o, "bits of a cancelled sum", json_string(sum(s, pair, 2, -1) == ulp / 4 ? "as the output" : "lost"));
	row(o, "rounding of the output", json_string(nearest ? "to nearest even" : "other"));
	row(o, "normalised", json_string(chain_carries(s) ? "once, at the end" : "after every addition"));
	row(o, "monotone", json_string(sum(s, half, 1, 1 - ulp / 2) > sum(s, half, 1, 1) ? "no" : "not refuted"));
	row(o, "NaN", json_string(hu_isnan(sum(s, one, 1, hu_nan())) ? "NaN, its code unsettled" : "lost"));
}

/* C = 2^24 has the ulp 2: two products of 1 are added to it in one block, and vanish one by one in two blocks. */
static const double far = 0x1p24;

/* Where fp16 output is rounded to nearest, 3/8 of the ulp of 2^11 is used twice instead. */
static const double far16 = 0x1p11;

int
hu_probe_narrow_length(hu_sum s)
{
	double c = s.out == HU_FP16 ? far16 : far, each = s.out == HU_FP16 ? 0.75 : 1;
	int j = 1;

	for (; j < MOST; j++) {
		double p[MOST] = { each };
		p[j] = each;
		if (sum(s, p, (size_t)j + 1, c) != c + 2)
			break;
	}
	return j;
}

int
hu_probe_narrow_depth(hu_sum s)
{
	const double top = s.out == HU_FP16 ? 4 : 1, pair[2] = { top, -top }; /* fp16's C ends at 2^-24 */
	int k = 0;

	while (k < 60 && sum(s, pair, 2, hu_round(ldexp(top, -k - 1), hu_format_of(s.out), HU_RZ, 0, 0)) != 0)
		k++;
	return k;
}

int
hu_probe_narrow_kept(hu_sum s)
{
	const double one[1] = { 1 };
	int k = 0;

	while (k < 60 && sum(s, one, 1, ldexp(1, -k - 1)) != 1)
		k++;
	return k;
}

void
hu_probe_narrow(json_t *o, hu_sum s)
{
	hu_format f = hu_format_of(s.in), out = hu_format_of(s.out);
	int keep = hu_probe_narrow_kept(s), deep = hu_probe_narrow_depth(s), nearest = out.p == 11;
	const double ulp = ldexp(1, -keep), lsb = ldexp(1, -deep), one[1] = { 1 }, pair[2] = { 1, -1 },
		     ones[5] = { 1, 1, 1, 1, 1 }, tiny[1] = { hu_smallest(f) };
	double quarters[12];

	for (int i = 0; i < 12; i++)
		quarters[i] = 0.25;

	row(o, "input subnormals",
		json_string(!hu_has_subnormals(f)           ? "none in the format"
			    : sum(s, tiny, 1, 0) == tiny[0] ? "kept"
							    : "flushed"));
	row(o, "output subnormals",
		json_string(sum(s, one, 0, 0) == 0 && sum(s, ones, 0, hu_smallest(out)) == hu_smallest(out)
				    ? "kept"
				    : "flushed"));
	row(o, "products in a block", json_integer(hu_probe_narrow_length(s)));
	row(o, "fraction bits of the output", json_integer(keep));
	row(o, "fraction bits of the alignment", json_integer(deep));
	row(o, "extra alignment bits", json_integer(deep - keep));
	if (!nearest) /* a C in fp16 has no such bits */
		row(o, "rounding of aligned terms",
			json_string(sum(s, pair, 2, 0.25 * lsb) == 0 && sum(s, pair, 2, 0.75 * lsb) == 0 ? "toward zero"
													 : "other"));
	double low = sum(s, one, 1, 0.25 * ulp), high = sum(s, one, 1, 0.75 * ulp), odd = sum(s, one, 1, 1.5 * ulp);
	row(o, "rounding of the output",
		json_string(low == 1 && high == 1                               ? "toward zero"
			    : low == 1 && high == 1 + ulp && odd == 1 + 2 * ulp ? "to nearest even"
										: "other"));
	if (!nearest) /* five halves of an ulp added to a number just below 2^24 give 2^24 + 4 at once, and 2^24 one by
		         one */
		row(o, "normalised",
			json_string(sum(s, ones, 5, far - 1) == far + 4 ? "once, at the end" : "in between"));
	/* quarters are cut off beside 2^24; below it they carry beyond it */
	if (deep - keep == 2)
		row(o, "monotone",
			json_string(sum(s, quarters, 12, far - 1) > sum(s, quarters, 12, far) ? "no" : "not refuted"));
	row(o, "NaN", json_string(hu_isnan(sum(s, one, 1, hu_nan())) ? (nearest ? "0x7fff" : "0x7fffffff") : "lost"));
}
