/* SPDX-License-Identifier: Apache-2.0
   The rows of halfulp inspect: collected, then printed, or as JSON, and to a file. */
#ifndef HU_ANALYZERS_INSPECT_TABLE_H
#define HU_ANALYZERS_INSPECT_TABLE_H

#include "analyzers/formats/inspect_cast.h"
#include "lib/base/tsv.h"

typedef struct hu_inspect_row { const hu_array *a; const hu_target *to; hu_cast_effect e; } hu_inspect_row;

/* Columns aligned to their widest cell; what does not apply or is undefined is "-". */
void hu_inspect_print(const hu_inspect_row *row, size_t n);
/* An array of objects, a row each, the note with every one; what does not apply or is undefined is null, what is
   infinite a string. */
void hu_inspect_print_json(const hu_inspect_row *row, size_t n, const char *note);
/* Header and rows. */
void hu_inspect_tsv(hu_tsv *t, const hu_inspect_row *row, size_t n);
#endif
