/* SPDX-License-Identifier: Apache-2.0
   The tables of a history: what check --history keeps of a commit. */
#ifndef HU_ANALYZERS_HISTORY_ROWS_H
#define HU_ANALYZERS_HISTORY_ROWS_H

#include "analyzers/drift/baseline/baseline.h"

/* Writes the rows of B, which was held to WANT, into both tables in DIR (lib/store/history/course.h), in the place of
   those of the same COMMIT. HU_EFILE where a table that is there is not one of these; it is then left as it is. */
hu_status hu_history_rows(const hu_baseline *b, const hu_baseline *want, const char *dir, const char *commit);
#endif
