/* SPDX-License-Identifier: Apache-2.0
   A gate's rows for a person: a table with the verdict first, why rows fail, and the decision in the last line. */
#ifndef HU_ANALYZERS_GATE_TEXT_H
#define HU_ANALYZERS_GATE_TEXT_H

#include "analyzers/drift/files/gate.h"
#include "lib/base/terminal/fitted.h"

enum { HU_GATE_MEASURES = 8 };

/* Adds the columns of a row's measures, and a row's cells in them: "-" where there is nothing to measure. */
void hu_gate_columns(hu_fitted *t);
void hu_gate_measures(hu_fitted *t, const hu_gate_row *r);
/* Prints the rows that failed, at most HU_OUTCOME_ROWS of them, or as many that hold, on standard output. */
void hu_gate_text(const hu_gate *g);
#endif
