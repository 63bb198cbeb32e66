/* SPDX-License-Identifier: Apache-2.0
   Training steps under a stopwatch: milliseconds, throughput, memory, energy, and where asked for the
   seconds of each call. */
#ifndef HU_TRAINER_STEPTIME_H
#define HU_TRAINER_STEPTIME_H

#include "lib/base/console/progress.h"
#include "trainer/energy/energy.h"
#include "trainer/run/session.h"

/* steps timed steps after warm untimed ones. calls: time each call too, where the back end can (which costs it
   something). evaluate: the evaluation images afterwards, untimed. memory: bytes that hu_need may come to; 0: no such
   limit. energy may have no meter; bar may be NULL, and moves a step at a time by the batch. */
typedef struct hu_steptime_ask {
	size_t warm, steps;
	int calls, evaluate;
	double memory;
	hu_energy *energy;
	hu_progress *bar;
} hu_steptime_ask;

/* ms: the median of the timed steps, fastest_ms their least, spread_ms the distance of their quartiles. peak_bytes:
   measured, of the steps and the evaluation: on the CPU by how much the resident set grew at most, images included (NaN
   where that cannot be known), on a device the most of its memory that was allocated at once. computed_bytes: what
   hu_need expected, never less. joules and utilisation: a step's mean, negative where not available. loss: of the last
   step; eval: where asked for. digest: of the state after all steps, warm ones included: what was computed. call:
   seconds of each call of a step, its median over the steps, by place in the program; freed by the caller, NULL where
   not asked for or not known. pass: of a device, how it computed each call, and last what it looked at; its times are
   then those of steps after the timed ones, launched pass by pass, of each pass's first call, and one more for the
   look; freed by the caller too. */
typedef struct hu_steptime {
	double ms, fastest_ms, spread_ms, samples_per_s, peak_bytes, computed_bytes, joules, utilisation, loss;
	hu_evaluation eval;
	uint64_t digest;
	double *call;
	size_t calls;
	hu_pass *pass;
} hu_steptime;

/* Of c's model, data, policy and back end. Each step ends with its loss on the host, as a training's does. Session and
   data are its own. HU_ENOMEM where the step does not fit (ask's memory, the device's, the machine's): a blank cell,
   not an end. */
hu_status hu_steptime_measure(hu_steptime *t, const hu_config *c, const hu_steptime_ask *ask);

/* The q-quantile of n > 0 ascending numbers, linear between neighbours. */
double hu_quantile(const double *x, size_t n, double q);
#endif
