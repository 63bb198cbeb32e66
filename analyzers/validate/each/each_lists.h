/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HU_ANALYZERS_EACH_LISTS_H
#define HU_ANALYZERS_EACH_LISTS_H

#include "analyzers/validate/each/each.h"

/* Finds among the outputs of E, float32's of all inputs, those that are a list of boxes. */
void hu_each_lists_find(hu_each_lists *l, const hu_each *e, const hu_imported *m);

/* n pairs: box is[k] of one list is box was[k] of float32's, with the same label and covering at least half of what
   both cover together. lost and gained: boxes of float32's list and of the other without such a partner. */
typedef struct hu_each_match_of {
	size_t n, *is, *was, lost, gained;
} hu_each_match_of;

/* Matches the lists of one input, whose outputs are V and float32's V32: each of float32's boxes, in its list's order,
   with the box left that it shares most with. */
void hu_each_match(hu_each_match_of *r, const hu_each_lists *l, const hu_each_value *v, const hu_each_value *v32);
void hu_each_match_release(hu_each_match_of *r);
#endif
