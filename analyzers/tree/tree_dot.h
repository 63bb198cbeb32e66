/* SPDX-License-Identifier: Apache-2.0
   Revealed summation trees as a drawing for Graphviz. */
#ifndef HU_ANALYZERS_TREE_DOT_H
#define HU_ANALYZERS_TREE_DOT_H

#include "analyzers/tree/tree_show.h"
#include "lib/base/status.h"

/* The drawing so far: a cluster for each order that was found, and the orders' hashes. All zero is an empty one. */
typedef struct hu_tree_dot {
	hu_str text;
	uint64_t *hash;
	int n, cap;
} hu_tree_dot;

/* Adds an answer, whose hash hu_tree_show has set: a cluster of nodes, in which term 5 of order 2 is t2_5 and edges
   lead from what is added to its sum; a comment where the order is drawn already, or where there is no tree. */
void hu_tree_dot_add(hu_tree_dot *d, const hu_tree_found *f);
/* Writes the drawing to the file; `command` is the line that made it. */
hu_status hu_tree_dot_write(const hu_tree_dot *d, const char *path, const char *command);
void hu_tree_dot_release(hu_tree_dot *d);
#endif
