/* SPDX-License-Identifier: Apache-2.0
   The order in which an all-reduce adds what the ranks have, as a list, for loops over many elements at once. The
   arithmetic of one element is in collective.h. */
#ifndef HU_SUM_HOPS_H
#define HU_SUM_HOPS_H

#include "lib/sum/sum.h"

enum { HU_HOP = -1 };

/* Writes the order of the all-reduce s over n ranks, 1 <= n = s.n, as a list of 2n - 1 steps for a stack: r >= 0 puts
   rank r's part on the stack, HU_HOP replaces the two on top, x below y, by x + y. Carrying it out performs the
   additions of hu_model_ranks. The stack holds at most hu_hops_depth(n) numbers. */
void hu_hops_list(int *list, hu_sum s);
int hu_hops_depth(int n);
#endif
