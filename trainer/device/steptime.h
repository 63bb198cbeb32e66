/* SPDX-License-Identifier: Apache-2.0
   Training steps under a stopwatch: milliseconds, throughput, memory, energy, and where asked for the
   seconds of each call. */
#ifndef HU_TRAINER_STEPTIME_H
#define HU_TRAINER_STEPTIME_H

#include "trainer/energy/energy.h"
#include "trainer/session.h"

/* Medians over the timed steps. peak_bytes: of the program's tensors (hu_memory_of), what a back end must hold.
   joules and utilisation: a step's mean, negative where not available. call: seconds of each call of a step, its median
   over the steps, by place in the program; freed by the caller, NULL where the back end can't tell. */
typedef struct hu_steptime { double ms, fastest_ms, samples_per_s, peak_bytes, joules, utilisation; uint64_t digest; double *call; size_t calls; } hu_steptime;

/* STEPS timed steps after WARM untimed ones, of C's model, data and policy; the digest after all of them says what was
   computed. Session and data are its own. HU_ENOMEM where the step does not fit: a blank cell, not an end. */
hu_status hu_steptime_measure(hu_steptime *t, const hu_config *c, size_t warm, size_t steps, hu_energy *energy);
#endif
