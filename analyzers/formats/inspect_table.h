/* SPDX-License-Identifier: Apache-2.0
   Prints the rows of halfulp inspect as a table or as JSON, and writes them to a file. */
#ifndef HU_ANALYZERS_INSPECT_TABLE_H
#define HU_ANALYZERS_INSPECT_TABLE_H

#include "analyzers/formats/inspect_cast.h"
#include "lib/base/tsv.h"

typedef struct hu_inspect_row { const hu_array *a; const hu_target *to; hu_cast_effect e; } hu_inspect_row;

/* Prints columns aligned to their widest cell; a cell that does not apply or is undefined is "-". */
void hu_inspect_print(const hu_inspect_row *row, size_t n);
/* Prints an array with an object for each row, which repeats `note`. A value that does not apply or is undefined is
   null, an infinite one a string. */
void hu_inspect_print_json(const hu_inspect_row *row, size_t n, const char *note);
/* Appends header and rows to t. */
void hu_inspect_tsv(hu_tsv *t, const hu_inspect_row *row, size_t n);
#endif
