/* SPDX-License-Identifier: Apache-2.0
   How many digits a sum in bins has: as few as hold the largest sum that there may be, and its sign. */
#include "lib/exact/bins.h"
#include "t/tool/tap.h"

/* The bits of k terms below 4 in units of 2^-span, and one for the sign. */
static int
bits_of(int span, size_t k)
{
	int log2_up = 0;

	while (((size_t)1 << log2_up) < k + 1)
		log2_up++;
	return span + 2 + log2_up + 1;
}

int
main(void)
{
	static const size_t terms[] = { 1, 2, 3, 4, 7, 8, 9, 100, 1023, 1024, 4096, 1000000 };
	size_t wrong = 0, tried = 0;

	for (int s = 1; s <= 10; s++) {
		int digit = 0; /* the bits of a digit: whole bins, 40 at most */
		while (digit + s <= 40)
			digit += s;
		for (int span = 0; span <= 300; span++)
			for (size_t i = 0; i < sizeof terms / sizeof *terms; i++, tried++) {
				int least = 1;
				while (least * digit < bits_of(span, terms[i]))
					least++;
				wrong += hu_bins_digits(span, terms[i], s) != least;
			}
	}
	ok(!wrong, "digits hold every sum, and are as few as do: %zu cases, %zu wrong", tried, wrong);
	return done_testing();
}
