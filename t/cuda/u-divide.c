/* SPDX-License-Identifier: Apache-2.0
   Division by a multiplication (cuda/base/divide.h) against the processor's: every divisor up to 2^12, those around
   powers of two and the largest; numbers around their multiples, where a quotient changes, and the largest. */
#include "cuda/base/divide.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

enum { BELOW = 0x7fffffff };

static unsigned long long tried, wrong;

static void
try_one(uint32_t n, hu_divisor d)
{
	tried++;
	if (hu_quotient(n, d) == n / d.by)
		return;
	if (!wrong++)
		diag("%u / %u is %u, not %u", n, d.by, n / d.by, hu_quotient(n, d));
}

static void
try_divisor(uint32_t by)
{
	hu_divisor d = hu_divisor_of(by);
	uint32_t most = BELOW / by;

	for (uint32_t i = 0; i < 64; i++) {
		uint32_t q = i < 4 ? i : i < 8 ? most - (i - 4) : hu_random_word(1, by, 0, i) % (most + 1);
		if (q > most)
			continue;
		try_one(q * by, d);
		if (q)
			try_one(q * by - 1, d);
		if (by - 1 <= BELOW - q * by)
			try_one(q * by + (by - 1), d);
	}
	try_one(BELOW, d);
}

int
main(void)
{
	for (uint32_t by = 1; by <= 4096; by++)
		try_divisor(by);
	for (int e = 12; e < 31; e++)
		for (int j = -40; j <= 40; j++)
			try_divisor((uint32_t)((1 << e) + j));
	for (uint32_t i = 0; i < 40; i++) {
		try_divisor(BELOW - i);
		try_divisor(1u << 30 | hu_random_word(1, 7, 0, i) >> 2);
	}
	ok(!wrong, "%llu quotients are the processor's, %llu are not", tried, wrong);
	wrong = tried = 0;
	hu_divisor all = hu_divisor_of(3), bad = { 7, hu_divisor_of(7).factor - 1, hu_divisor_of(7).shift };
	for (uint32_t n = 0; n < BELOW; n += 1 + n / (1u << 22))
		try_one(n, all);
	ok(!wrong, "by 3: %llu quotients", tried);
	unsigned long long before = wrong;
	try_one(7, bad);
	ok(wrong == before + 1, "a factor that is one too small is seen");
	return done_testing();
}
