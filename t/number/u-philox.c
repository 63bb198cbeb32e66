/* SPDX-License-Identifier: Apache-2.0
   Philox4x32-10: the known answers of Random123's distribution (kat_vectors),
   the house's counter layout, and moments of the uniform numbers. */
#include "lib/number/philox.h"
#include "t/tool/tap.h"

static void
is_block(hu_random r, uint32_t a, uint32_t b, uint32_t c, uint32_t d, const char *what)
{
	is_bits32(r.w[0], a, "%s, word 0", what);
	is_bits32(r.w[1], b, "%s, word 1", what);
	is_bits32(r.w[2], c, "%s, word 2", what);
	is_bits32(r.w[3], d, "%s, word 3", what);
}

static void
test_known(void)
{
	is_block(hu_philox(0, 0, 0, 0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, "zeros");
	is_block(hu_philox(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff), 0x408f276d,
		0x41c83b0e, 0xa20bc7c6, 0x6d5451fd, "ones");
	is_block(hu_philox(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0), 0xd16cfe09,
		0x94fdcceb, 0x5001e420, 0x24126ea1, "digits of pi");
}

static void
test_layout(void)
{
	hu_random a = hu_random_at(0x299f31d0a4093822u, 0x03707344, 0x13198a2e, 0x85a308d3243f6a88u);

	is_bits32(a.w[0], 0xd16cfe09, "counter = (index low, index high, step, stream), key = seed");

	/* the block of zeros, and the one whose counter has its top bit set beside */
	static const uint32_t want[8] = { 0xe8d5, 0x6627, 0xc58d, 0xe169, 0xac4c, 0xbc57, 0xdbd8, 0x9b00 };
	hu_random last = hu_philox(0, 0x80000000u, 0, 0, 0, 0);
	for (unsigned i = 0; i < 8; i++) {
		is_bits32(hu_random_piece((hu_stream){ 0, 0, 0 }, i, 0), want[i], "piece %u", i);
		is_bits32(hu_random_cast((hu_stream){ 0, 0, 0 }, i),
			want[i] << 16 | (last.w[i / 2] >> (i % 2 ? 16 : 0) & 0xffff), "cast %u's bits", i);
	}
	is_bits32(hu_random_piece((hu_stream){ 0, 0, 0 }, 8 * UINT64_C(0xffffffff) + 5, 1),
		hu_philox(0, 1, 0, 0, 0, 0).w[2] >> 16, "a block number carries into the counter's second word");
}

/* Mean 1/2 and variance 1/12 of n uniforms: standard errors sqrt(1/12n) and sqrt(1/180n). */
static void
test_moments(void)
{
	enum { N = 1 << 18 };
	double sum = 0, square = 0, low = 1, high = 0;

	for (unsigned i = 0; i < N; i++) {
		double u = hu_uniform(hu_random_at(42, 1, 0, i));
		sum += u;
		square += (u - 0.5) * (u - 0.5);
		low = u < low ? u : low;
		high = u > high ? u : high;
	}
	is_near(sum / N, 0.5, 4 * 0.28867513459 / 512, "mean within 4 standard errors");
	is_near(square / N, 1.0 / 12, 4 * 0.07453559925 / 512, "variance within 4 standard errors");
	ok(low >= 0 && low < 1e-4 && high < 1 && high > 1 - 1e-4, "0 <= u < 1, filled to both ends");
	is_bits64(bits_of_double(hu_uniform((hu_random){ { 0xffffffff, 0xffffffff, 0, 0 } })), 0x3fefffffffffffffu,
		"the largest uniform is 1 - 2^-53");
}

int
main(void)
{
	test_known();
	test_layout();
	test_moments();
	return done_testing();
}
