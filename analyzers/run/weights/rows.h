/* SPDX-License-Identifier: Apache-2.0
   The rows of weights.tsv: of a tensor, of all parameters or all other states of a step, and of the step behind it. */
#ifndef HU_ANALYZERS_WEIGHTS_ROWS_H
#define HU_ANALYZERS_WEIGHTS_ROWS_H

#include "analyzers/run/weights/next_step.h"
#include "analyzers/run/weights/weight.h"
#include "lib/base/table/fields.h"

extern const hu_fields hu_weight_rows;

/* Adds a row of a tensor, or, without one, of all parameters or all other states of a step. */
void hu_weight_row(hu_tsv *t, size_t step, const hu_info *info, int parameter, const hu_weight *w, const char *because);
/* Adds the row of the step behind this one, of whose weights nothing else is known. */
void hu_weight_next_row(hu_tsv *t, size_t step, const hu_next_step *s);
#endif
