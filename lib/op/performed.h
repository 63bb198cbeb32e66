/* SPDX-License-Identifier: Apache-2.0
   What the emulation performs, counted where it is performed: the instrument that tests hold the plan's counts to. */
#ifndef HU_OP_PERFORMED_H
#define HU_OP_PERFORMED_H

#include <stddef.h>
#include <stdint.h>

/* macs: pairs of operands multiplied and added. A tap outside the image is an operand, one that a stride skips is none.
   operations: of everything else, as hu_cost counts them. */
typedef struct hu_performed { uint64_t macs, operations; } hu_performed;

/* Where the counts go, from any thread; NULL, as at the start: nobody asks, and nothing is counted. */
void hu_performed_set(hu_performed *p);
int hu_performed_asked(void);
void hu_performed_macs(size_t n);
void hu_performed_operations(size_t n);
#endif
