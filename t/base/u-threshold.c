/* SPDX-License-Identifier: Apache-2.0
   Limits: each sign on both sides of the limit and on it, infinities and NaN; what is no limit. */
#include "lib/base/console/threshold.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stddef.h>

int
main(void)
{
	static const struct {
		const char *text;
		double value;
		int percent, below, on, above; /* whether a number below the limit, on it and above it keeps it */
	} good[] = { { "<=0.5", 0.5, 0, 1, 1, 0 }, { "<0.5", 0.5, 0, 1, 0, 0 }, { ">=-2", -2, 0, 0, 1, 1 },
		{ ">1e3%", 1e3, 1, 0, 0, 1 }, { "<=0.1%", 0.1, 1, 1, 1, 0 } };
	static const char *const bad[] = { "<", "<=", ">%", ">=nan", "<1x", "<=1%%", "<==1", ">=1 2" };
	hu_threshold l;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		double v = good[i].value;
		int read = hu_threshold_read(&l, good[i].text);
		ok(read && l.value == v && l.percent == good[i].percent, "%s is read", good[i].text);
		ok(hu_threshold_keeps(l, nextafter(v, -INFINITY)) == good[i].below &&
				hu_threshold_keeps(l, v) == good[i].on &&
				hu_threshold_keeps(l, nextafter(v, INFINITY)) == good[i].above,
			"%s: below, on and above", good[i].text);
		ok(hu_threshold_keeps(l, -INFINITY) == good[i].below &&
				hu_threshold_keeps(l, INFINITY) == good[i].above && !hu_threshold_keeps(l, NAN),
			"%s: infinities, and NaN keeps nothing", good[i].text);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!hu_threshold_read(&l, bad[i]), "'%s' is no limit", bad[i]);
	ok(hu_threshold_read(&l, "<inf") && hu_threshold_keeps(l, 1e308) && !hu_threshold_keeps(l, INFINITY),
		"below infinity");
	ok(hu_threshold_keeps(hu_threshold_most(INFINITY), INFINITY) && hu_threshold_keeps(hu_threshold_least(2), 2) &&
			!hu_threshold_keeps(hu_threshold_least(2), 1.5) &&
			!hu_threshold_keeps(hu_threshold_most(2), 2.5),
		"limits that nobody wrote");
	return done_testing();
}
