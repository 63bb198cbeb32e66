/* SPDX-License-Identifier: Apache-2.0
   What the command prints of the first node apart. */
#ifndef HU_ANALYZERS_ENGINES_NODE_OUT_H
#define HU_ANALYZERS_ENGINES_NODE_OUT_H

#include "analyzers/engines/node.h"

#include <jansson.h>

void hu_node_print(const hu_node *node, const hu_forward *a, const hu_forward *b);
/* Adds the members step, tensors_compared, tensors_unmatched and first_apart, which are null where node is NULL. */
void hu_node_add_json(json_t *o, const hu_node *node, const hu_forward *a, const hu_forward *b);
#endif
