/* SPDX-License-Identifier: Apache-2.0
   The names of revealed trees that equal the order of one of the program's models, or a known order of others. */
#ifndef HU_ANALYZERS_REVEAL_NAMES_H
#define HU_ANALYZERS_REVEAL_NAMES_H

#include "lib/base/str.h"

#include <stdint.h>

/* Appends the names of every order of this program that has this hash for n terms, separated by ", ", and sets *ours to
   1; where there is none, the names of known orders of other programs. Empty where the order is unknown. */
void hu_reveal_names(uint64_t hash, size_t n, hu_str *names, int *ours);
#endif
