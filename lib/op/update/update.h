/* SPDX-License-Identifier: Apache-2.0
   Which updates of weights are swamped: one addition per element, judged after its rounding to the output. */
#ifndef HU_OP_UPDATE_H
#define HU_OP_UPDATE_H

#include "lib/op/element/map.h"

/* Counts weight updates, one addition per element. Result 0 of the map is the new weight, result 1 is the amount
   subtracted. An update is swamped if the stored weight equals the old one (operand 0 of the map). */
hu_status hu_update_swamping(const hu_map *m, const size_t *element, size_t n, const hu_env *env, hu_swamp *count);
/* The same for all elements, from the old weights w and the new ones next, with result 1 of the map. */
void hu_update_tally_all(const hu_map *m, const hu_tensor *w, const hu_tensor *next, hu_update_tally *count);
#endif
