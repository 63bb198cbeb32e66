/* SPDX-License-Identifier: Apache-2.0
   A gate's rows as verdicts, as JSON and as a table. */
#ifndef HU_ANALYZERS_GATE_OUT_H
#define HU_ANALYZERS_GATE_OUT_H

#include "analyzers/drift/outcome/outcome.h"
#include "analyzers/drift/files/gate.h"

/* Fills v with one outcome for each row; the caller releases it. */
void hu_gate_outcomes(hu_outcomes *v, const hu_gate *g);
/* Writes the rows as JSON. Where `verdicts` is set each has the verdict that its rule gives; else it only compares. */
void hu_gate_json(FILE *out, const hu_gate *g, int verdicts);
/* Prints the rows that differ, or all of them, in as many columns as standard output has room for. */
void hu_gate_table(const hu_gate *g, int all);
/* Returns how many rows differ in a value, the dtype or the shape, or are in one of the two files alone. */
size_t hu_gate_differing(const hu_gate *g);
#endif
