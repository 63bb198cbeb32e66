/* SPDX-License-Identifier: Apache-2.0
   What a command prints as JSON, written to files as LaTeX, Markdown, TSV or JSON. The command runs in a process of its
   own. */
#ifndef HU_REPORTS_TABLES_H
#define HU_REPORTS_TABLES_H

#include "reports/rows/outputs.h"

/* Writes those of the files that are not drawn, with the rows and columns that the command line chooses, and says of
   each how large it is; where --json was given, prints the JSON in place of that. *code is how the command ended; where
   it failed, it has said so and nothing is written. */
hu_status hu_tables_make(const hu_command *c, const hu_args *a, const hu_outputs *files, int *code);
#endif
