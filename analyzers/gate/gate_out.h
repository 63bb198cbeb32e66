/* SPDX-License-Identifier: Apache-2.0
   A gate's rows as verdicts, as JSON and as a table. */
#ifndef HU_ANALYZERS_GATE_OUT_H
#define HU_ANALYZERS_GATE_OUT_H

#include "analyzers/outcome/outcome.h"
#include "analyzers/gate/gate.h"

/* A verdict a row, to be released. */
void hu_gate_outcomes(hu_outcomes *v, const hu_gate *g);
/* VERDICTS: with each row's, which the rules give; without, a comparison alone. */
void hu_gate_json(FILE *out, const hu_gate *g, int verdicts);
/* Rows that differ, or ALL, in columns. */
void hu_gate_table(FILE *out, const hu_gate *g, int all);
/* Rows of which anything differs: a value, the dtype, the shape, or that both have them. */
size_t hu_gate_differing(const hu_gate *g);
#endif
