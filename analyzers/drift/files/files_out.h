/* SPDX-License-Identifier: Apache-2.0
   The rows of two files as verdicts, as JSON and as a table. */
#ifndef HU_ANALYZERS_FILES_OUT_H
#define HU_ANALYZERS_FILES_OUT_H

#include "analyzers/drift/outcome/outcome.h"
#include "analyzers/drift/files/files.h"

/* Fills v with one outcome for each row; the caller releases it. */
void hu_files_outcomes(hu_outcomes *v, const hu_files *g);
/* Writes the rows as JSON. Where `verdicts` is set each has the verdict that its rule gives; else it only compares. */
void hu_files_json(FILE *out, const hu_files *g, int verdicts);
/* Prints the rows that differ, or all of them, in as many columns as standard output has room for. */
void hu_files_table(const hu_files *g, int all);
/* Returns how many rows differ in a value, the dtype or the shape, or are in one of the two files alone. */
size_t hu_files_differing(const hu_files *g);
#endif
