/* SPDX-License-Identifier: Apache-2.0
   How many operands all_reduce takes. C and C++. */
#ifndef HU_OP_OVER_RANKS_MOST_H
#define HU_OP_OVER_RANKS_MOST_H

/* As many as a training has micro-batches; a kernel's parameters hold that many addresses. */
enum { HU_OVER_RANKS = 256 };
#endif
