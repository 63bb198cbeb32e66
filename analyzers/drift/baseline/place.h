/* SPDX-License-Identifier: Apache-2.0
   Where in a run a quantity is, read from its key. */
#ifndef HU_ANALYZERS_PLACE_H
#define HU_ANALYZERS_PLACE_H

#include "lib/base/str.h"

/* Where a quantity is, from its key. Members that the key does not have are -1 or NULL. */
typedef struct hu_place {
	char *text; /* a copy of the key, which the strings below point into */
	const char *table, *layer, *tensor, *column;
	const char *summed; /* the table whose worst value over all steps a summary is */
	long long step;
	int call;
} hu_place;

/* Reads KEY; hu_place_release frees what P holds. Program rows and summaries have no step. */
void hu_place_init(hu_place *p, const char *key);
void hu_place_release(hu_place *p);
/* Appends KEY as people say it, "ulp_mean of dense1.y at step 7"; a key that names no tensor as it is. */
void hu_place_words(hu_str *s, const char *key);
#endif
