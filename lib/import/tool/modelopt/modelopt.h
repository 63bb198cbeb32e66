/* SPDX-License-Identifier: Apache-2.0
   How nvidia-modelopt 0.47 chooses the nodes that it quantises to int8: it looks for what TensorRT fuses, and leaves
   the values inside such a group float. Nodes are numbered as the file has them, values as hu_rewriting has them. */
#ifndef HU_IMPORT_TOOL_MODELOPT_H
#define HU_IMPORT_TOOL_MODELOPT_H

#include "lib/import/tool/rewriting.h"

/* A list of numbers, which frees itself by hu_modelopt_release. */
typedef struct hu_modelopt_list {
	int *at;
	size_t n, cap;
} hu_modelopt_list;

/* Node TO reads the first result of node FROM, VALUE, as it is, even where others read its codes. */
typedef struct hu_modelopt_edge {
	int from, to, value;
} hu_modelopt_edge;

typedef struct hu_modelopt {
	hu_rewriting *x;
	int *producer;             /* by value: a node, -1: none */
	hu_modelopt_list *readers; /* by value: nodes, once for each time that they read it */
	hu_modelopt_list order;    /* all nodes, those that need fewer nodes before them first */
	int *residual;             /* by node: of Add the operand's value that a group may end with, -1: none */
	char *excluded, *grouped;  /* by node */
	hu_modelopt_list *group;   /* nodes that TensorRT fuses with the linear node that is the first of them */
	size_t ngroup, groupcap;
	hu_modelopt_list *loose; /* groups of pointwise nodes alone */
	size_t nloose, loosecap;
	char *chosen; /* by node */
	hu_modelopt_edge *plain;
	size_t nplain, plaincap;
} hu_modelopt;

void hu_modelopt_add(hu_modelopt_list *l, int number);
int hu_modelopt_has(const hu_modelopt_list *l, int number);

/* modelopt_graph.c. The graph of X as the tool sees it. Which operators only move values. */
extern const char hu_modelopt_moves[];
void hu_modelopt_begin(hu_modelopt *m, hu_rewriting *x);
void hu_modelopt_release(hu_modelopt *m);
/* The number of operand K of node N; -1 where it is left out. */
int hu_modelopt_operand(const hu_modelopt *m, int n, size_t k);
/* The node that makes operand K, -1: none. The first result of node N, -1: none. */
int hu_modelopt_maker(const hu_modelopt *m, int n, size_t k);
int hu_modelopt_result(const hu_modelopt *m, int n);
/* 1 where value V is an initialiser, or what the tool takes for one; 1 where NODE reads such. */
int hu_modelopt_is_constant(const hu_modelopt *m, int v);
int hu_modelopt_reads_constant(const hu_modelopt *m, int node);
/* 1 where operators of PATH (blanks between) follow each other from node N on, forward or backward. BiasAdd and
   ConstMul may be missing in it, nodes of WILD may stand between, and NonBiasAdd is an Add of two values. Nodes that
   match are added to FOUND where it is no NULL. */
int hu_modelopt_path(
	const hu_modelopt *m, int n, const char *path, int forward, const char *wild, hu_modelopt_list *found);
/* The convolution that node N ends a fusible chain of, -1: none. */
int hu_modelopt_backbone(const hu_modelopt *m, int n);
/* The nearest node before both A and B, or one of them, and how far each is from it; -1: none. */
int hu_modelopt_ancestor(const hu_modelopt *m, int a, int b, int distance[2]);

/* modelopt_groups.c. Finds the groups and the residual operands. Which operators are linear, and which pointwise. */
extern const char hu_modelopt_linear[];
void hu_modelopt_groups(hu_modelopt *m);
int hu_modelopt_is_pointwise(const hu_onnx_node *node);

/* modelopt_choose.c. Sets chosen and plain. */
void hu_modelopt_choose(hu_modelopt *m);
#endif
