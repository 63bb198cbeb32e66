/* SPDX-License-Identifier: Apache-2.0
   What of a baseline a person reads in a review: some tens of rows, which stand first in its file. */
#ifndef HU_ANALYZERS_BASELINE_HEADLINE_H
#define HU_ANALYZERS_BASELINE_HEADLINE_H

#include "analyzers/drift/baseline/baseline.h"

/* Adds summary/TABLE/COLUMN, the worst value of each column over all rows of its table, which must not move where they
   must not; of columns that must not move at all there is none. B is sorted before and after. */
void hu_baseline_summarize(hu_baseline *b);
/* Whether a row stands first: summaries, and the metrics of the first and the last step. */
int hu_is_headline(const hu_baseline *b, const hu_baseline_quantity *q);
#endif
