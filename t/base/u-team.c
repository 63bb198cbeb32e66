/* SPDX-License-Identifier: Apache-2.0
   hu_team: what it chooses on machines that are idle, busy, and busy for a while, by times that are made up
   here: one thread takes ALONE seconds; all take PAIR, and a STALL more in one run of EVERY. And in the
   program: the bits of a step are the same for every choice. */
#include "lib/base/team.h"
#include "t/tool/tap.h"

#include <math.h>
#include <string.h>

typedef struct machine { double alone, pair, stall; unsigned every; } machine;

static unsigned state = 1;

static unsigned
draw(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 16;
}

/* Mean seconds of N runs; *all is the share of them that all threads had. */
static double
runs(hu_team *t, machine m, int n, double *all)
{
	double sum = 0;

	*all = 0;
	for (int i = 0; i < n; i++) {
		int team = hu_team_all(t);
		double took = team ? m.pair + (m.every && draw() % m.every == 0 ? m.stall : 0) : m.alone;
		hu_team_took(t, took);
		*all += team;
		sum += took;
	}
	*all /= n;
	return sum / n;
}

static void
one(const char *what, machine m, double most, double least_all, double most_all)
{
	hu_team t = { .runs = 0 };
	double all, mean = (runs(&t, m, 50, &all), runs(&t, m, 20000, &all));

	ok(mean <= most * m.alone && all >= least_all && all <= most_all,
		"%s: %.3f of one thread's time, all threads in %.3f of the runs", what, mean / m.alone, all);
}

int
main(void)
{
	static const machine idle = { 300e-6, 160e-6, 0, 0 }, busy = { 300e-6, 160e-6, 3e-3, 4 };
	hu_team t = { .runs = 0 }, big = { .runs = 0 }, soon = { .runs = 0 }, late = { .runs = 0 };
	double all;

	one("idle, worth sharing", idle, 0.57, 0.95, 1);
	one("a core is taken for 3 ms in every fourth run", busy, 1.07, 0, 0.2);
	one("a core is taken in every tenth run", (machine){ 300e-6, 160e-6, 3e-3, 10 }, 1.07, 0, 0.5);
	one("a core is taken in one run of a thousand", (machine){ 300e-6, 160e-6, 3e-3, 1000 }, 0.75, 0.6, 1);
	one("all threads are slower", (machine){ 300e-6, 320e-6, 0, 0 }, 1.05, 0, 0.2);
	one("too short to share, whatever it would gain", (machine){ 20e-6, 1e-6, 0, 0 }, 1 + 1e-9, 0, 0);
	one("a spinning worker makes it five times as slow", (machine){ 2e-3, 10e-3, 0, 0 }, 1.05, 0, 0.2);

	runs(&t, idle, 2000, &all);
	runs(&t, busy, 50, &all);
	double mean = runs(&t, busy, 5000, &all);
	ok(mean <= 1.07 * busy.alone, "idle, then busy: %.3f of one thread's time", mean / busy.alone);
	runs(&t, idle, 5000, &all); /* a second and a half */
	mean = runs(&t, idle, 5000, &all);
	ok(mean <= 0.6 * idle.alone, "and idle again: %.3f of one thread's time", mean / idle.alone);

	hu_team_expect(&soon, 3e-3);
	mean = runs(&soon, idle, 10, &all);
	ok(all >= 0.8, "what is known to be worth sharing begins with all threads, which have %.1f of ten runs", all);
	hu_team_expect(&late, 3e-3);
	mean = runs(&late, (machine){ 300e-6, 160e-6, 20e-3, 1 }, 10, &all);
	ok(all <= 0.31, "and goes on with one where a core is taken at once: all threads have %.1f of ten runs", all);

	memset(&soon, 0, sizeof soon);
	hu_team_expect(&soon, 3e-3);
	runs(&soon, (machine){ 300e-6, 160e-6, 1e-3, 1 }, 3, &all);
	runs(&soon, idle, 13, &all);
	runs(&soon, idle, 10, &all);
	ok(all >= 0.8, "where a machine is busy at first alone, all threads soon have %.1f of the runs", all);

	hu_team_expect(&big, 60);
	ok(hu_team_all(&big), "what is known to take long begins with all threads");
	runs(&big, (machine){ 60, 30, 3e-3, 2 }, 200, &all);
	ok(all == 1, "and is never tried on one, which would take too long: all threads in %.3f of the runs", all);
	return done_testing();
}
