/* SPDX-License-Identifier: Apache-2.0
   Times training steps: milliseconds, throughput, memory, energy, and on request the seconds of each call. */
#ifndef HU_TRAINER_STEPTIME_H
#define HU_TRAINER_STEPTIME_H

#include "lib/base/terminal/progress.h"
#include "trainer/energy/energy.h"
#include "trainer/run/session.h"

/* What to measure: `steps` timed steps after `warm` untimed ones. calls also times each call where the back end can,
   which costs some time itself. evaluate runs the evaluation images afterwards, untimed. memory is the limit in bytes
   that hu_need may not exceed; 0 sets none. energy may have no meter. bar may be NULL; it advances by the batch at each
   step. */
typedef struct hu_steptime_ask {
	size_t warm, steps;
	int calls, evaluate;
	double memory;
	hu_energy *energy;
	hu_progress *bar;
} hu_steptime_ask;

/* ms is the median of the timed steps, fastest_ms the least, spread_ms the distance between the quartiles, wait_ms the
   mean time in which a step made and read its batch, on a device while that worked. peak_bytes is the measured memory
   of steps and evaluation: on the CPU the most by which the resident set grew, images included (NaN where that cannot
   be known); on a device the most that was allocated there at once. computed_bytes is what hu_need computed; it is
   never less. joules and utilisation are means of a step, negative where not available; a meter with a period measures
   them over further steps that take as long. loss is that of the last step,
   eval is filled on request. digest is a checksum of the state after all steps, warm ones included. call has the median
   seconds of each call of a step, by its place in the program; it is NULL where not asked for or not known. pass says
   how a device computed each call; its last entry is what the device reads back for the host. With pass, times are
   those of extra steps that are launched pass by pass, one for each pass's first call and one for the last entry. The
   caller frees call and pass. */
typedef struct hu_steptime {
	double ms, fastest_ms, spread_ms, wait_ms, samples_per_s, peak_bytes, computed_bytes, joules, utilisation, loss;
	hu_evaluation eval;
	uint64_t digest;
	double *call;
	size_t calls;
	hu_pass *pass;
} hu_steptime;

/* Measures steps of c's model, data, policy and back end; the session and the data are opened and closed here. Each
   step ends when its loss is on the host, as in training. Of several ranks all call it: rank 0's figures are those of
   the training that they share, peak_bytes the most that a rank took, and the others' figures mean nothing. HU_ENOMEM
   where the step does not fit into ask->memory, the device or the machine: the caller leaves that cell blank and goes
   on. */
hu_status hu_steptime_measure(hu_steptime *t, const hu_config *c, const hu_steptime_ask *ask);

/* Returns the q-quantile of n > 0 ascending numbers, interpolated linearly between neighbours. */
double hu_quantile(const double *x, size_t n, double q);
#endif
