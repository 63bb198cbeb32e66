/* SPDX-License-Identifier: Apache-2.0
   How accumulate says its sums: as a table for people, as tab-separated rows, and as JSON. */
#ifndef HU_ACCUMULATE_SAY_H
#define HU_ACCUMULATE_SAY_H

#include "analyzers/accumulate/accumulate_options.h"
#include "analyzers/accumulate/accumulate_run.h"

#include <jansson.h>

/* Prints what stands above the rows of n terms: for people, or with --table. Prints nothing with --json. */
void hu_accumulate_heading(const hu_args *args, const hu_accumulate_options *o, size_t n);

/* Prints the row of the sum *r by the model s of the first n terms, whose format is `terms` and whose exact sum is *x:
   tab-separated with --table. */
void hu_accumulate_print(const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s, hu_format_id terms,
	const hu_accumulate_options *o);

/* Returns the same as an object, which the caller owns. Numbers that are not finite are strings in it. */
json_t *hu_accumulate_json(const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s, hu_format_id terms,
	const hu_accumulate_options *o);

#endif
