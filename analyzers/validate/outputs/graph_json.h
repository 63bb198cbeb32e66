/* SPDX-License-Identifier: Apache-2.0
   The graph of a model, for the page that paints damage on it. */
#ifndef HU_ANALYZERS_GRAPH_JSON_H
#define HU_ANALYZERS_GRAPH_JSON_H

#include "lib/import/import.h"

#include <jansson.h>

/* Returns an array with an object for each node of M that computes or moves anything, in the program's order: node,
   layer, operator, from (numbers of the nodes whose results it reads, from 0), and the names of the model's inputs that
   it reads and of the outputs that it makes. Nodes of constants alone are not among them, nor those that
   hand on what they read as it is. */
json_t *hu_graph_json(const hu_imported *m);
#endif
