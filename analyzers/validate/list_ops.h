/* SPDX-License-Identifier: Apache-2.0
   The operators of a model: how many nodes each has, and for which the arithmetic is known. */
#ifndef HU_ANALYZERS_LIST_OPS_H
#define HU_ANALYZERS_LIST_OPS_H

#include "lib/import/import.h"

#include <jansson.h>

/* A node, and the model's own function that it stands in: NULL for the graph itself and the graphs in it. */
typedef struct hu_listed {
	const hu_onnx_node *node;
	const char *function, *arithmetic;
} hu_listed;

/* Nodes FIRST to FIRST + N - 1 of the list, which have one operator and are all known or all not. */
typedef struct hu_listed_op {
	size_t first, n;
} hu_listed_op;

typedef struct hu_op_list {
	const hu_onnx *m;
	hu_listed *node;
	hu_listed_op *op; /* by domain and name; of one operator what is known comes first */
	size_t nnode, nop;
} hu_op_list;

/* Every node of M, of the graphs in its nodes and of its functions, each once, however often a function is called. */
void hu_op_list_init(hu_op_list *l, const hu_onnx *m);
void hu_op_list_release(hu_op_list *l);

/* Prints a row for each operator, then those without arithmetic, with the names of at most three nodes each. */
void hu_op_list_print(const hu_op_list *l);
/* Returns the list with all names as JSON (doc/formats.md), which the caller releases. */
json_t *hu_op_list_json(const hu_op_list *l);
/* Prints the list of the file PATH, as JSON or as text. */
hu_status hu_op_list_tell(const char *path, int json);
#endif
