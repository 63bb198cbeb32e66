/* SPDX-License-Identifier: Apache-2.0
   Chooses between one thread and all by timing both. The way in use is timed all the time. Now and then a trial runs
   the other way; its cost in time decides how long the next trial waits. */
#include "lib/base/team.h"

/* Seconds. Waking a sleeping thread takes 5 to 50 microseconds, so shorter work is never shared. */
static const double worth = 30e-6;
/* Seconds. A thread whose core is taken comes back after one slice of the scheduler, 3 ms in Linux. Work that takes
   all threads several slices is not tried on one thread, because the trial alone could cost more than it can win. */
static const double patience = 10e-3;
/* Seconds that are expected. Longer work begins with all threads: expectations are of arithmetic that is emulated
   number by number, and vectors are up to 30 times as fast. What lasts longer still also stays with them, as above. */
static const double sharable = 1e-3, lasting = 100e-3;
/* The time that a trial loses is at most this part of the time until the next trial. */
static const double share = 1.0 / 32;
/* All threads are chosen after a trial of this many runs that is faster on average: in a single run they may just
   have met no busy core. */
enum { CONVINCING = 4 };
/* A choice of one thread in the first EARLY runs, while programs start and pages are touched for the first time, is
   tried again after SOON runs. */
enum { EARLY = 16, SOON = 4 };

void
hu_team_expect(hu_team *t, double seconds)
{
	t->expected = seconds;
	t->chosen = seconds > sharable;
}

int
hu_team_all(const hu_team *t)
{
	return t->chosen ^ t->trying;
}

/* Ends a trial. The next one waits until the chosen way has run long enough to make up for `cost` seconds. */
static void
wait(hu_team *t, double cost)
{
	t->trying = 0;
	t->debt = (cost > 0 ? cost : 0) / share + t->mean[t->chosen] / share;
}

static void
choose(hu_team *t, int all, double cost)
{
	t->chosen = all;
	wait(t, cost);
	if (!all && t->runs < EARLY)
		t->debt = SOON * t->mean[0];
}

/* Takes the time of a trial's run. All threads must win several runs; one thread, which waits for nobody, needs one. */
static void
judge(hu_team *t, double seconds)
{
	int all = !t->chosen;

	t->trial += seconds;
	t->tried++;
	double cost = t->trial - t->tried * t->mean[t->chosen], mean = t->trial / t->tried;
	if (cost >= 0) {
		t->mean[all] = mean;
		wait(t, cost);
	} else if (t->tried == (all ? CONVINCING : 1)) {
		t->mean[all] = mean;
		choose(t, all, 0);
	}
}

static int
worth_a_trial(const hu_team *t)
{
	if (t->debt > 0)
		return 0;
	if (!t->chosen)
		return t->mean[0] > worth;
	return t->mean[1] < patience || (t->expected > 0 && t->expected <= lasting);
}

void
hu_team_took(hu_team *t, double seconds)
{
	double *mean = &t->mean[t->chosen], other = t->mean[!t->chosen];

	if (!t->runs++) /* the first run meets cold caches and untouched memory */
		return;
	if (t->trying) {
		judge(t, seconds);
		return;
	}
	t->debt -= seconds;
	*mean = *mean > 0 ? *mean + (seconds - *mean) / 8 : seconds;
	if (t->chosen && other > 0 && *mean > other) { /* all threads were faster once, and now meet a busy core */
		choose(t, 0, seconds - other);
	} else if (worth_a_trial(t)) {
		t->trying = 1;
		t->tried = 0;
		t->trial = 0;
	}
}
