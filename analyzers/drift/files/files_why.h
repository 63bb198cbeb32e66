/* SPDX-License-Identifier: Apache-2.0
   Why files failed, in one line; for this folder alone. */
#ifndef HU_ANALYZERS_FILES_WHY_H
#define HU_ANALYZERS_FILES_WHY_H

#include "analyzers/drift/files/files.h"
#include "lib/base/str.h"

/* Appends where element r->m.at of a tensor is: "[3,17]"; of a series its step. */
void hu_files_add_place(hu_str *s, const hu_files_row *r);
/* Appends "3 ulps of bf16" for ULPS in R's format, or that they are more than the whole precision p of that format, 2^p
   ulps: beside a small old value such a number says nothing. */
void hu_files_add_ulps(hu_str *s, const hu_files_row *r, double ulps);
/* The worst name, the worst place in it, how far it moved, and what all names together look like: the caller frees it.

   Other names or shapes are another model. Else, over all tensors of floating point that differ and have 8 elements or
   more: a median cosine below 1/2 is what independent values have, of n elements about 1/sqrt(n), 0.35 for n = 8:
   another seed or initialisation. Another dtype is another precision. A median l2 of at most 64 times the dtype's
   2^(1-p) is the same computation with its sums in another order or by another library; what is larger is a change of
   the computation, or of its precision within. Series are told nothing of: two trainings have similar losses whatever
   is wrong with them. */
char *hu_files_why(const hu_files *g);
#endif
