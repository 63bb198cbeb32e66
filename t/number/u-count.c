/* SPDX-License-Identifier: Apache-2.0
   The counters' predicates at their edges, and errors in ulps. */
#include "lib/number/count.h"
#include "lib/number/ulp.h"
#include "t/tool/tap.h"

static void
test_swamps(void)
{
	hu_format f = hu_format_of(HU_FP16);

	ok(hu_swamps(1, 0x1p-12, hu_round(1 + 0x1p-12, f, HU_RNE, 0, 0)), "fp16: 1 swamps 2^-12");
	ok(hu_swamps(1, 0x1p-11, hu_round(1 + 0x1p-11, f, HU_RNE, 0, 0)), "fp16: 1 swamps 2^-11, a tie to even");
	ok(!hu_swamps(1, 0x1.8p-11, hu_round(1 + 0x1.8p-11, f, HU_RNE, 0, 0)), "fp16: 1 does not swamp 1.5 * 2^-11");
	ok(hu_swamps(2048, 1, hu_round(2049, f, HU_RNE, 0, 0)), "fp16: 2048 swamps 1");
	ok(!hu_swamps(1, 0, 1), "a zero is not swamped");
	ok(!hu_swamps(0, 1, 1), "a zero swamps nothing");
	ok(!hu_swamps(hu_inf(0), 1, hu_inf(0)), "an infinity is not counted");
	ok(!hu_swamps(1, hu_nan(), hu_nan()), "nor is NaN");
	ok(!hu_swamps(1, hu_inf(1), hu_inf(1)), "nor an infinite addend");
}

static hu_underflow
one(double x)
{
	hu_underflow c = { 0, 0, 0, 0, 0, 0 };
	hu_format f = hu_format_of(HU_FP16);

	hu_underflow_count(&c, x, hu_round(x, f, HU_RNE, 0, 0), f);
	return c;
}

static void
is_counts(double x, int nonzeros, int zeroed, int subnormal, int lost, int flushed)
{
	hu_underflow c = one(x);

	ok(c.elements == 1 && c.nonzeros == (uint64_t)nonzeros && c.zeroed == (uint64_t)zeroed &&
			c.subnormal == (uint64_t)subnormal && c.lost == (uint64_t)lost &&
			c.flushed == (uint64_t)flushed,
		"cast of %a to fp16: %d %d %d %d %d", x, nonzeros, zeroed, subnormal, lost, flushed);
}

static void
test_underflow(void)
{
	hu_underflow a = one(0x1p-25), b = one(1);

	is_counts(0, 0, 0, 0, 0, 0);
	is_counts(-0.0, 0, 0, 0, 0, 0);
	is_counts(1, 1, 0, 0, 0, 0);
	is_counts(0x1p-14, 1, 0, 0, 0, 0);
	is_counts(-0x1p-24, 1, 0, 1, 0, 1);
	is_counts(0x1p-25, 1, 1, 0, 1, 1);
	is_counts(0x1.8p-24, 1, 0, 1, 1, 1);
	is_counts(0x1.ffffp-15, 1, 0, 0, 1, 0); /* rounds up to the smallest normal */
	is_counts(0x1.ff8p-15, 1, 0, 1, 0, 1);  /* the largest subnormal, exactly */
	is_counts(hu_inf(0), 0, 0, 0, 0, 0);
	is_counts(hu_nan(), 0, 0, 0, 0, 0);
	hu_underflow_add(&a, &b);
	ok(a.elements == 2 && a.nonzeros == 2 && a.zeroed == 1 && a.lost == 1 && a.flushed == 1, "counts add");
}

static void
test_bins(void)
{
	is_int(hu_exponent_bin(1), -HU_BIN_LOW, "1 is in the bin of exponent 0");
	is_int(hu_exponent_bin(-0x1.8p-20), -20 - HU_BIN_LOW, "the sign does not matter");
	is_int(hu_exponent_bin(0x1p-149), -149 - HU_BIN_LOW, "fp32's smallest");
	is_int(hu_exponent_bin(0x1p-1074), 0, "the lowest bin takes all smaller ones");
	is_int(hu_exponent_bin(0x1p1000), HU_BIN_HIGH - HU_BIN_LOW, "the highest bin takes all larger ones");
	is_int(hu_exponent_bin(0), HU_BIN_ZERO, "zero has its own");
	is_int(hu_exponent_bin(hu_nan()), HU_BIN_NONFINITE, "NaN is not finite");
	is_int(HU_BINS, HU_BIN_NONFINITE + 1, "and that is the last bin");
}

static void
test_ulps(void)
{
	hu_format h = hu_format_of(HU_FP16), d = hu_format_of(HU_FP64);

	is_near(hu_error_ulps(1, 1 + 0x1p-11, h), 0.5, 0, "half an ulp of 1 in fp16");
	is_near(hu_error_ulps(2, 0x1.fffp0, h), 0.25, 0, "the ulp is the exact value's");
	is_near(hu_error_ulps(0x1p-24, 0, h), 1, 0, "at zero the unit is the smallest subnormal");
	is_near(hu_error_ulps(0, 0x1p-30, h), 0x1p-6, 0, "below the normal range too");
	is_near(hu_error_ulps(-1, 1, h), 2048, 0, "a wrong sign");
	is_near(hu_error_ulps(0x1p-1074, 0, d), 1, 0, "fp64's smallest subnormal");
	is_near(hu_error_ulps(-0x1p1023, 0x1p1023, d), 0x1p53, 0, "a difference beyond fp64's range");
	is_near(hu_error_ulps(hu_inf(0), 70000, h), hu_inf(0), 0, "overflow is an infinite error");
	is_near(hu_error_ulps(hu_inf(0), hu_inf(0), h), 0, 0, "equal infinities have none");
	is_near(hu_error_ulps(hu_nan(), 1, h), hu_inf(0), 0, "NaN for a number is an infinite error");
	is_near(hu_error_ulps(hu_nan(), hu_nan(), h), 0, 0, "NaN for NaN is none");
	is_near(hu_error_ulps(-0.0, 0, h), 0, 0, "a zero's sign is no error");
}

int
main(void)
{
	test_swamps();
	test_underflow();
	test_bins();
	test_ulps();
	return done_testing();
}
