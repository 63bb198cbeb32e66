/* SPDX-License-Identifier: Apache-2.0
   A policy's distances at an output: the row that the table has, and the object of JSON. */
#ifndef HU_ANALYZERS_OUTPUT_ROW_H
#define HU_ANALYZERS_OUTPUT_ROW_H

#include "analyzers/validate/effect/measures.h"
#include "lib/base/table/fields.h"

typedef struct hu_output_row {
	const char *policy, *output;
	double rel_l2, sqnr_db, max_error, signed_share, outward_share, bias_t;
	long long nonfinite;
} hu_output_row;

/* The table of such rows; the object of JSON is of one policy and has no key for it. */
extern const hu_fields hu_output_table;

/* Returns the row of what was measured, which keeps both names. Of whole numbers no distance is told, and without an
   error there is no direction. */
hu_output_row hu_output_row_of(const char *policy, const char *output, const hu_distance *d);
#endif
