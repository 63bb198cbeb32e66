/* SPDX-License-Identifier: Apache-2.0
   How the work of analyze is cut into units, and what each is expected to cost. Both follow from the program, the
   options, and which tensors of which steps were traced, so that every process cuts alike without reading a tensor. */
#ifndef HU_ANALYZERS_UNITS_CUT_H
#define HU_ANALYZERS_UNITS_CUT_H

#include "analyzers/run/analyzer.h"

/* n units in the order in which they are merged: by step; in it the step as a whole, then calls, and of these tiles.
   cost: seconds on one core of a machine of 2020, about; only their ratios matter. step: that of each unit. joint: it
   is an exact step, of which united ranks share the products. */
typedef struct hu_units { hu_work_unit *u; double *cost; int *step; char *joint; int n; } hu_units;

/* take[i] says whether row i of analyzers.def runs. Fails where a trace cannot be opened; the units are to be released
   all the same. */
hu_status hu_units_cut(hu_units *c, hu_analysis *a, const char *take);
void hu_units_release(hu_units *c);
/* Whether the analyzer of this name runs. */
int hu_units_takes(const char *take, const char *name);
/* The unit's name in parts: "step.all" or "step.call.tile". The caller frees it. */
char *hu_unit_name(const hu_analysis *a, const hu_work_unit *u);
#endif
