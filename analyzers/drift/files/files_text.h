/* SPDX-License-Identifier: Apache-2.0
   The rows of two files as a table: with verdicts, for check, and without, for diff. */
#ifndef HU_ANALYZERS_FILES_TEXT_H
#define HU_ANALYZERS_FILES_TEXT_H

#include "analyzers/drift/files/files.h"
#include "analyzers/drift/outcome/outcome.h"

/* Adds to V, which has the outcomes of G and why it failed, its rows and what a person reads beside them. */
void hu_files_rows(hu_outcomes *v, const hu_files *g);
/* Prints the rows that differ, or all of them, in as many columns as standard output has room for; or as JSON. */
void hu_files_table(const hu_files *g, int all);
void hu_files_json(const hu_files *g);
/* Returns how many rows differ in a value, the dtype or the shape, or are in one of the two files alone. */
size_t hu_files_differing(const hu_files *g);
/* Appends "F32[3,4]", or where the dtype changed "BF16 -> F32[3,4]". */
void hu_files_add_type(hu_str *s, const hu_files_row *r);
#endif
