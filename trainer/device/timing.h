/* SPDX-License-Identifier: Apache-2.0
   Predicts a training step's time on a device, a row for each call or layer: what limits it, and what a policy
   changes. */
#ifndef HU_TRAINER_TIMING_H
#define HU_TRAINER_TIMING_H

#include "lib/program/spread/backend.h"
#include "cuda/device/roofline.h"

#include <stdio.h>

/* total is the time of all calls in seconds; by_limit splits it by what limits each call (HU_LIMIT_…). odd counts the
   calls on dimensions that slow matrix units down, and odd_time is their time. */
typedef struct hu_timing { double total, by_limit[3], odd_time; int calls, odd; } hu_timing;

/* measured has the seconds of each call, by call id, or is NULL. pass says how a device computed each call
   (hu_backend.pass), and a row by call is then a pass: a pass whose calls form a chain counts to its first call's
   layer, any other pass of several layers to "several". Where pass is NULL, each call is a row. */
hu_timing hu_timing_of(const hu_peaks *d, const hu_program *p);
void hu_timing_print(FILE *f, const hu_peaks *d, const hu_program *p, int by_call, const double *measured);
json_t *hu_timing_to_json(
	const hu_peaks *d, const hu_program *p, int by_call, const double *measured, const hu_pass *pass);
#endif
