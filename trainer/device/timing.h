/* SPDX-License-Identifier: Apache-2.0
   A training step's predicted time on a device, a row a call or a layer: what limits each, and
   what a policy changes. */
#ifndef HU_TRAINER_TIMING_H
#define HU_TRAINER_TIMING_H

#include "lib/program/backend.h"
#include "trainer/device/roofline.h"

#include <stdio.h>

/* Seconds of the calls together; by limit: the time of those that it limits. odd: calls on dimensions that matrix
   units don't like, in all and by time. */
typedef struct hu_timing { double total, by_limit[3], odd_time; int calls, odd; } hu_timing;

/* measured: seconds of each call, by call id, or NULL. pass: how a device computed each call, and what it looks at
   (hu_backend.pass); a pass is then what a row by call is about; a chain counts to its first call's layer, to "several"
   whatever else has calls of more than one. NULL: each call stands alone. */
hu_timing hu_timing_of(const hu_peaks *d, const hu_program *p);
void hu_timing_print(FILE *f, const hu_peaks *d, const hu_program *p, int by_call, const double *measured);
json_t *hu_timing_to_json(
	const hu_peaks *d, const hu_program *p, int by_call, const double *measured, const hu_pass *pass);
#endif
