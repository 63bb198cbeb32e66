/* SPDX-License-Identifier: Apache-2.0
   Decides whether work that is repeated, such as a call of a training step, gains from more than one thread. That
   depends on the work and on what else the machine does, because a team of threads has to be woken and waits for a
   thread whose core another program has taken. So both ways are timed, and timed again now and then. Results never
   depend on the choice. A zeroed hu_team knows nothing yet. */
#ifndef HU_BASE_TEAM_H
#define HU_BASE_TEAM_H

typedef struct hu_team {
	double expected;      /* seconds on one thread, as known beforehand; 0: not known */
	double mean[2];       /* mean seconds of recent runs: on one thread, on all; 0: none yet */
	double debt;          /* seconds of runs to come before the other way is tried again */
	double trial;         /* seconds that the trial in progress has taken */
	int runs, tried;      /* runs: runs so far; tried: runs of the trial in progress */
	int chosen, trying;   /* chosen: 0 one thread, 1 all; trying: a trial of the other is in progress */
} hu_team;

/* Tells how long the work takes on one thread at most, where that is known beforehand. Work of a millisecond and more
   begins with all threads. */
void hu_team_expect(hu_team *t, double seconds);
/* Returns 1 where the next run shall use all threads, 0 where it shall use one. */
int hu_team_all(const hu_team *t);
/* Reports that the run for which hu_team_all was asked took so many seconds of wall-clock time. */
void hu_team_took(hu_team *t, double seconds);
#endif
