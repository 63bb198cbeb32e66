/* SPDX-License-Identifier: Apache-2.0
   Two files of anyone's, held to rules: a row a name of either, the worst first. */
#ifndef HU_ANALYZERS_GATE_H
#define HU_ANALYZERS_GATE_H

#include "analyzers/gate/rules.h"

typedef enum hu_gate_state {
	HU_GATE_SAME,   /* no value differs */
	HU_GATE_WITHIN, /* its rule holds */
	HU_GATE_IGNORED,
	HU_GATE_OPTIONAL,
	HU_GATE_BEYOND, /* from here on a failure: a bound does not hold */
	HU_GATE_NONFINITE,
	HU_GATE_DTYPE,
	HU_GATE_STEPS,
	HU_GATE_SHAPE,
	HU_GATE_ADDED,
	HU_GATE_MISSING
} hu_gate_state;

typedef struct hu_gate_row {
	const char *name;
	const hu_item *old, *new; /* NULL: the name is in the other file alone */
	hu_rule rule;             /* that held; its texts are the rules' */
	hu_measures m;
	hu_format_id ulps_of; /* m.ulps[0]: of the rule's first format, else of the coarser dtype */
	hu_gate_state state;
	double severity; /* failures: how many times the bound the measure is */
	char *said;      /* what is so, as one part of a sentence */
} hu_gate_row;

typedef struct hu_gate {
	hu_contents old, new;
	hu_rules rules;
	hu_gate_row *row;
	size_t n, failed, same;
} hu_gate;

/* Opens both, compares what both have and judges: failures first, the worst first, then the others by how far they
   moved. STEP as in hu_series_read. G->rules is the caller's, before and after. */
hu_status hu_gate_open(hu_gate *g, const char *old, const char *new, const char *step);
hu_status hu_gate_judge(hu_gate *g);
void hu_gate_release(hu_gate *g);
#endif
