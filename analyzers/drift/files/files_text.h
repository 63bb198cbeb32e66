/* SPDX-License-Identifier: Apache-2.0
   The rows of two files for a person: a table with the verdict first, why rows fail, and the decision in the last
   line. */
#ifndef HU_ANALYZERS_FILES_TEXT_H
#define HU_ANALYZERS_FILES_TEXT_H

#include "analyzers/drift/files/files.h"
#include "lib/base/terminal/fitted.h"

enum { HU_FILES_MEASURES = 8 };

/* Adds the columns of a row's measures, and a row's cells in them: "-" where there is nothing to measure. */
void hu_files_columns(hu_fitted *t);
void hu_files_measures(hu_fitted *t, const hu_files_row *r);
/* Prints the rows that failed, at most HU_OUTCOME_ROWS of them, or as many that hold, on standard output. */
void hu_files_text(const hu_files *g);
#endif
