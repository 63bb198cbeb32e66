/* SPDX-License-Identifier: Apache-2.0
   Whether work that is done again and again, such as a call of a training step, is worth more than one
   thread. That depends on the work and on what else the machine does: a team of threads has to be woken,
   and waits for a thread whose core another program has taken. So it is measured, and measured again now
   and then. Results never depend on it. A zeroed hu_team knows nothing yet. */
#ifndef HU_BASE_TEAM_H
#define HU_BASE_TEAM_H

typedef struct hu_team {
	double mean[2];       /* seconds of a run on one thread, and on all: of the recent ones; 0: there was none */
	double debt;          /* seconds of runs to go until the other way is tried again */
	double trial;         /* seconds that the trial in progress has taken */
	int runs, tried;      /* runs so far; runs of the trial in progress */
	int chosen, trying;   /* 0 one thread, 1 all; whether a trial of the other way is in progress */
} hu_team;

/* What is known beforehand: the work takes about SECONDS on one thread. Where that is long, all threads begin. */
void hu_team_expect(hu_team *t, double seconds);
/* 1 where the next run is to have all threads, 0 where one. */
int hu_team_all(const hu_team *t);
/* The run that hu_team_all was asked about took SECONDS by the clock. */
void hu_team_took(hu_team *t, double seconds);
#endif
