/* SPDX-License-Identifier: Apache-2.0
   The names of attributes that say something of one axis, as move has them. */
#ifndef HU_OP_MOVE_KEYS_H
#define HU_OP_MOVE_KEYS_H

#include "lib/op/tensor.h"

/* Of axis j: its length, the input's axis that it runs over, where it starts there, and its step. */
typedef struct hu_move_keys {
	const char *d, *from, *start, *step;
} hu_move_keys;
extern const hu_move_keys hu_move_key[HU_RANK];
#endif
