/* SPDX-License-Identifier: Apache-2.0
   Counts what the emulation performs, in the places where it performs it. Tests hold the plan's counts to these. */
#ifndef HU_OP_PERFORMED_H
#define HU_OP_PERFORMED_H

#include <stddef.h>
#include <stdint.h>

/* macs counts pairs of operands multiplied and added; a tap outside the image counts, a tap that a stride skips does
   not. operations counts everything else as hu_cost does. */
typedef struct hu_performed { uint64_t macs, operations; } hu_performed;

/* Sets where the counts go, from any thread. NULL, as at the start, turns counting off. */
void hu_performed_set(hu_performed *p);
int hu_performed_asked(void);
void hu_performed_macs(size_t n);
void hu_performed_operations(size_t n);
#endif
