/* SPDX-License-Identifier: Apache-2.0
   Units are dealt as the rule says, by a plain search in place of a heap: 400 drawn works of up to 60 units, many of
   equal cost, to up to 20 workers. */
#include "lib/base/hash.h"
#include "lib/base/parts/deal.h"
#include "t/tool/tap.h"

#include <stdlib.h>

enum { UNITS = 60, WORKERS = 20 };

/* Returns how many units the plain rule gives to another worker or takes at another place. */
static int
differ(const double *cost, int units, int n)
{
	double each[WORKERS] = { 0 };
	int taken[UNITS] = { 0 }, of[UNITS], wrong = 0, *order = hu_deal_order(cost, units);
	hu_deal load;

	hu_deal_out(&load, of, cost, units, n);
	for (int i = 0; i < units; i++) {
		int unit = -1, to = 0;
		for (int u = 0; u < units; u++)
			if (!taken[u] && (unit < 0 || cost[u] > cost[unit]))
				unit = u;
		for (int k = 1; k < n; k++)
			if (each[k] < each[to])
				to = k;
		taken[unit] = 1;
		each[to] += cost[unit];
		wrong += order[i] != unit || of[unit] != to;
	}
	for (int k = 0; k < n; k++)
		wrong += load.each[k] != each[k] || load.most < each[k];
	hu_deal_release(&load);
	free(order);
	return wrong;
}

/* A number below n. */
static int
below(int n)
{
	static uint64_t state = 20261201;

	return (int)((state = hu_mix64(state + 1)) % (uint64_t)n);
}

int
main(void)
{
	double cost[UNITS];
	int wrong = 0;

	for (int t = 0; t < 400; t++) {
		int units = below(UNITS + 1), n = 1 + below(WORKERS);
		for (int i = 0; i < units; i++)
			cost[i] = below(t % 2 ? 4 : 1000);
		wrong += differ(cost, units, n);
	}
	is_int(wrong, 0, "400 works are dealt as by a plain search");
	return done_testing();
}
