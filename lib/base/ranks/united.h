/* SPDX-License-Identifier: Apache-2.0
   Work that one rank would do alone and that cannot be dealt out, since each part needs what the part before found: all
   ranks do it together, in step. What is cheap each of them computes itself; of an array that takes long each fills a
   slice, and then all have the whole. So every rank has the numbers of one process, whatever their number. */
#ifndef HU_BASE_UNITED_H
#define HU_BASE_UNITED_H

#include <stddef.h>

/* From now on (1), or no longer (0), all ranks do the same work in the same order. */
void hu_ranks_unite(int on);
/* How many ranks share an array: 1 where they are not united. */
int hu_ranks_united(void);
/* Sets this rank's slice of n elements, first to last-1; the slices are in the order of ranks, and a slice begins at a
   multiple of `grain`. All of them where the ranks are not united. */
void hu_ranks_slice(size_t n, size_t grain, size_t *first, size_t *last);
/* Collective where the ranks are united, and nothing elsewhere: every rank has filled its slice of data, n elements of
   `bytes` each, cut with the same grain; afterwards each has all of them. */
void hu_ranks_assemble(void *data, size_t n, size_t grain, size_t bytes);
/* Collective in the same way: 1 where `yes` is not 0 on every rank. */
int hu_ranks_all(int yes);
#endif
