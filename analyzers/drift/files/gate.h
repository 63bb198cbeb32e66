/* SPDX-License-Identifier: Apache-2.0
   Two files of anyone's, held to rules: a row a name of either, the worst first. */
#ifndef HU_ANALYZERS_GATE_H
#define HU_ANALYZERS_GATE_H

#include "analyzers/drift/files/rules.h"

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
	const hu_item *old, *new; /* NULL where only the other file has the name */
	hu_rule rule;             /* the rule that counted; its texts belong to the rules */
	hu_measures m;
	hu_format_id ulps_of; /* the format of m.ulps[0]: the rule's first one, else that of the coarser dtype */
	hu_gate_state state;
	double severity; /* of a failure, the measure divided by its bound */
	char *said;      /* what was found, as part of a sentence */
} hu_gate_row;

typedef struct hu_gate {
	hu_contents old, new;
	hu_rules rules;
	hu_gate_row *row;
	size_t n, failed, same;
} hu_gate;

/* hu_gate_open opens both files. hu_gate_judge compares what both have, judges it by g->rules and orders the rows:
   failures first, the worst first, then the others by how far they moved. `step` is as in hu_series_read. g->rules
   belongs to the caller, before and after. */
hu_status hu_gate_open(hu_gate *g, const char *old, const char *new, const char *step);
hu_status hu_gate_judge(hu_gate *g);
void hu_gate_release(hu_gate *g);
#endif
