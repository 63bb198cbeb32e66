/* SPDX-License-Identifier: Apache-2.0
   Counts of updates that were taken in two tiles add up, each of them: runs in which a decay alone is swamped are rare,
   so that no table of a shared analysis would show one that is left out. */
#include "analyzers/run/update.h"
#include "t/tool/tap.h"

#include <string.h>

int
main(void)
{
	static hu_update a, b;

	memset(&a, 0, sizeof a);
	memset(&b, 0, sizeof b);
	a.n = 1000, a.moved = 200, a.swamped = 30, a.by_decay = 4, a.swamped_by_decay = 2;
	b.n = 7000, b.moved = 600, b.swamped = 50, b.by_decay = 9, b.swamped_by_decay = 5;
	for (int i = 0; i < HU_UPDATE_BINS; i++) {
		a.bin[i] = (size_t)i, a.decay_bin[i] = 1;
		b.bin[i] = (size_t)(3 * i + 1), b.decay_bin[i] = (size_t)i;
	}
	hu_update_merge(&a, &b);
	ok(a.n == 8000 && a.moved == 800 && a.swamped == 80, "updates, those that move a weight, those swamped");
	is_int((long long)a.by_decay, 13, "updates by decay alone");
	is_int((long long)a.swamped_by_decay, 7, "of which so many were swamped");
	int wrong = 0;
	for (int i = 0; i < HU_UPDATE_BINS; i++)
		wrong += a.bin[i] != (size_t)(4 * i + 1) || a.decay_bin[i] != (size_t)(i + 1);
	is_int(wrong, 0, "%d bins of ratios, of all updates and of those by decay", HU_UPDATE_BINS);
	return done_testing();
}
