/* SPDX-License-Identifier: Apache-2.0
   The rows of the command allreduce: as a table, as JSON and as text. */
#ifndef HU_ANALYZERS_REDUCE_OUT_H
#define HU_ANALYZERS_REDUCE_OUT_H

#include "analyzers/allreduce/reduce.h"
#include "lib/base/table/fields.h"

#include <jansson.h>

/* When gradients become a mean; hu_reduce_divides has the names, ended by NULL. */
typedef enum hu_divide { HU_DIVIDE_AFTER, HU_DIVIDE_BEFORE, HU_DIVIDE_SPLIT } hu_divide;
extern const char *const hu_reduce_divides[];

/* An order of the sum in a wire format over how.sum.n ranks. broken is 1 where the error exceeds the tolerance, an
   element overflowed or a rank's own gradients are not finite. */
typedef struct hu_reduce_row {
	const char *order;
	hu_divide divide;
	hu_reduce how;
	hu_reduced got;
	int broken;
} hu_reduce_row;

/* Prints what the columns mean. */
void hu_reduce_help(void);
/* Appends the header, and a row, to a table. */
void hu_reduce_tsv_header(hu_tsv *t);
void hu_reduce_tsv(hu_tsv *t, const hu_reduce_row *w, const hu_records *r);
/* Returns the row as an object with a member for each column. An undefined error is null, an infinite one "inf". */
json_t *hu_reduce_json(const hu_reduce_row *w, const hu_records *r);
/* Prints the headings, and a row. */
void hu_reduce_begin(hu_fitted *to);
void hu_reduce_print(hu_fitted *to, const hu_reduce_row *w, const hu_records *r);
/* Prints for each order and format, whose rows are consecutive and by rising numbers of ranks, up to how many ranks it
   holds, at how many it breaks, and why. */
void hu_reduce_conclude(const hu_reduce_row *w, int n);
/* Says after that, where ranks repeat recorded gradients, what this spares trees. */
void hu_reduce_note(const hu_reduce_row *w, int n, const hu_records *r);
#endif
