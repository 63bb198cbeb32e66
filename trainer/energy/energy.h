/* SPDX-License-Identifier: Apache-2.0
   Energy spent while a program runs, from the counters of the hardware. A meter is one file
   and one row of meters.def; where no counter can be read, nothing is said, never 0. */
#ifndef HU_TRAINER_ENERGY_H
#define HU_TRAINER_ENERGY_H

#include "lib/base/status.h"

#include <stddef.h>

/* Of one source. open returns its state, or NULL and a reason in why; `what` gets what is measured
   ("2 packages, RAPL"). joules: the counter, wrap-arounds taken out, from an arbitrary start;
   negative where it can't be read any more. utilisation: busy share of the source since the last
   call, 0..1, or negative where unknown (a column may be NULL). */
typedef struct hu_meter {
	const char *name;
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
	int reads;
	char what[128], why[256];
} hu_energy;

/* `name`: a meter, "none", or "auto": the GPU's where backend is cuda, the processor's elsewhere. A meter that
   was named and does not work is HU_EDEVICE; auto leaves the reason in e->why instead. HU_EINVAL: no such name. */
hu_status hu_energy_open(hu_energy *e, const char *name, const char *backend);
void hu_energy_close(hu_energy *e);

/* Joules since the first call, never falling. Counters move in jumps (RAPL each millisecond, a GPU's each 20 to
   100 ms): between two, the power of the last interval goes on, for one such second at most, so that short steps
   get their share and their sum stays the counter's. Negative: not available. */
double hu_energy_read(hu_energy *e);
/* Busy share since the last call, or negative. */
double hu_energy_utilisation(hu_energy *e);

const hu_meter *hu_meter_at(int i);   /* NULL past the last */
#endif
