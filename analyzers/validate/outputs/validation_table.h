/* SPDX-License-Identifier: Apache-2.0
   The table of policies that validate prints, and the sentence that decides. */
#ifndef HU_ANALYZERS_VALIDATION_TABLE_H
#define HU_ANALYZERS_VALIDATION_TABLE_H

#include "analyzers/validate/outputs/outputs.h"

/* Prints a row for each policy, verdict first, with as many columns as a line of the terminal has room for. */
void hu_validation_table(const hu_validation *v);
/* The policy that keeps every rule with the fewest bytes of weights, the first of several; NULL where none does or no
   rule was given. float32 itself is none. */
const hu_judgement *hu_validation_best(const hu_validation *v);
/* Returns what follows from the rules in one sentence, such as "int8 keeps flips<=1% (0 of 300: at most 0.994 % at
   95 %) on these inputs, 3.8 times smaller." The caller frees it. */
char *hu_validation_sentence(const hu_validation *v);
#endif
