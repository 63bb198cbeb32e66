/* SPDX-License-Identifier: Apache-2.0
   The runs that measure the rows of another file; for this folder alone. */
#ifndef HU_ANALYZERS_AGAINST_RUN_H
#define HU_ANALYZERS_AGAINST_RUN_H

#include "analyzers/validate/against/against.h"

/* A row's value in the float network, and in the file as its readers see it (NULL: there is none), before its codes,
   and these codes (NULL: it has none). Where readers see codes, seen are these, of low to high, and (code - zero) times
   scale is what they are worth; else scale is 0. */
typedef struct hu_against_pair {
	const hu_imported_value *of, *seen, *before, *codes;
	double scale, zero, low, high;
} hu_against_pair;

/* Fills a's rows, of which pair[i] belongs to row i. */
hu_status hu_against_run(hu_against *a, const hu_against_pair *pair, const hu_network *n, size_t inputs);
#endif
