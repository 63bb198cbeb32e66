/* SPDX-License-Identifier: Apache-2.0
   What a baseline of statistics says that it cannot see, of baselines made by hand: the finite check that never fired
   is named where a loss scale above 1 was kept through every run, the second of a seed included, and only there. */
#include "analyzers/drift/statistics/statistics.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <string.h>

/* Returns whether the check is named where the last loss scales and the skipped steps of two seeds, each trained twice,
   are these. A NULL stands for a quantity that the baseline lacks. */
static int
named(const double *scale, const double *skipped)
{
	static hu_statistics s;
	const double *of[] = { scale, skipped };
	static const char *const name[] = { "exact/last_loss_scale", "exact/skipped_steps" };
	hu_str text;

	memset(&s, 0, sizeof s);
	s.by.n = 2;
	for (int k = 0; k < 2; k++) {
		if (!of[k])
			continue;
		hu_statistic *q = &s.q[s.n++];
		snprintf(q->name, sizeof q->name, "%s", name[k]);
		for (int i = 0; i < 2; i++) {
			q->value[i] = of[k][2 * i];
			q->repeat[i] = of[k][2 * i + 1];
		}
	}
	hu_str_init(&text);
	hu_statistics_unseen(&text, &s);
	int yes = strstr(text.s, "a finite check that never fires passes") != NULL;
	hu_str_release(&text);
	return yes;
}

int
main(void)
{
	static const double one[] = { 1, 1, 1, 1 }, none[] = { 0, 0, 0, 0 }, scaled[] = { 1024, 1024, 1024, 1024 };

	ok(named(scaled, none), "a loss scale and no skipped step");
	ok(!named(one, none), "without a loss scale there is no check");
	ok(!named(NULL, none) && !named(NULL, NULL), "nor where none is known");
	ok(named(scaled, NULL), "no skipped step is known");
	for (int i = 0; i < 4; i++) {
		double skipped[4] = { 0 }, scale[4] = { 1, 1, 1, 1 };
		skipped[i] = 1;
		scale[i] = 2;
		ok(!named(scaled, skipped), "run %d skipped a step", i);
		ok(named(scale, none), "run %d alone has a loss scale", i);
	}
	return done_testing();
}
