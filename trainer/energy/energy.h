/* SPDX-License-Identifier: Apache-2.0
   Energy spent while a program runs, from the counters of the hardware. A meter is one file and one row of meters.def.
   Where no counter can be read the energy is "not available", never 0. */
#ifndef HU_TRAINER_ENERGY_H
#define HU_TRAINER_ENERGY_H

#include "lib/base/status.h"

#include <stddef.h>

/* A meter reads one source of energy. open returns its state, or NULL with the reason in why; `what` receives what is
   measured ("2 packages, RAPL"). period is the seconds over which the source forms its figures: a busy share or joules
   of less time are those of other moments. joules returns the counter with wrap-arounds removed, from an arbitrary
   start; negative where it can no longer be read. utilisation returns the busy share of the source since the last call,
   0 to 1, or is negative where unknown; the member may be NULL. */
typedef struct hu_meter {
	const char *name;
	double period;
	void *(*open)(char *what, size_t what_size, char *why, size_t why_size);
	double (*joules)(void *state);
	double (*utilisation)(void *state);
	void (*close)(void *state);
} hu_meter;

typedef struct hu_energy {
	const hu_meter *meter;          /* NULL: none works */
	void *state;
	double (*now)(void);            /* seconds; a test may set its own clock before the first read */
	double first, seen, seen_at;    /* the counter: at the start, at its last change, and when that was */
	double watts, said;             /* between its last two changes; what the last read returned */
	double asked;                   /* when the busy share was given last, or hu_energy_mark was called */
	int reads;
	char what[128], why[256];
} hu_energy;

/* Opens the meter called `name`; "none" opens none, and "auto" the GPU's where backend is cuda and the processor's
   elsewhere. HU_EDEVICE where a meter was named and does not work; auto then succeeds and leaves the reason in e->why.
   HU_EINVAL where there is no such name. */
hu_status hu_energy_open(hu_energy *e, const char *name, const char *backend);
void hu_energy_close(hu_energy *e);

/* Returns joules since the first call; they never decrease. Negative where not available. Counters move in jumps (RAPL
   every millisecond, a GPU's every 20 to 100 ms). Between two jumps the power of the last interval is assumed to
   continue, for one such second at most, so that short steps get their share while their sum stays the counter's. */
double hu_energy_read(hu_energy *e);
/* Returns the busy share since it was given last or hu_energy_mark was called; negative where it is unknown, also
   before the meter's period has passed since then. */
double hu_energy_utilisation(hu_energy *e);
/* Begins an interval for hu_energy_utilisation. */
void hu_energy_mark(hu_energy *e);
/* Returns the seconds over which the meter forms its figures; 0 without a meter. */
double hu_energy_period(const hu_energy *e);

const hu_meter *hu_meter_at(int i);   /* NULL past the last */
#endif
