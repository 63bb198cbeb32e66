/* SPDX-License-Identifier: Apache-2.0
   What ranks.c and ranks_open.c share: the state of this process among its ranks. */
#ifndef HU_BASE_RANKS_OPEN_H
#define HU_BASE_RANKS_OPEN_H

#include "lib/base/ranks/wire.h"

typedef struct hu_ranks_state {
	const hu_wire *wire; /* NULL: this process is alone */
	int rank, size, local, place;
	int agreed; /* every rank knows of the failure that ends the command */
	int apart;  /* this rank could not join the others, and says so itself */
	char library[64];
} hu_ranks_state;

extern hu_ranks_state hu_ranks_now;
#endif
