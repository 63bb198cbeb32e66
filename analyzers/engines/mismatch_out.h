/* SPDX-License-Identifier: Apache-2.0
   What the command prints of how far two engines' probabilities are apart. */
#ifndef HU_ANALYZERS_ENGINES_MISMATCH_OUT_H
#define HU_ANALYZERS_ENGINES_MISMATCH_OUT_H

#include "analyzers/engines/mismatch.h"

#include <jansson.h>

/* a: the logits of A; path: what A and B are called; given: whether the tokens were named, and are not A's greedy
   ones. The caller frees the object. */
json_t *hu_mismatch_json(const hu_mismatches *m, const hu_logits *a, const char *const *path, int given, double tau);
void hu_mismatch_print(const hu_mismatches *m, const hu_logits *a, int given, double tau);
#endif
