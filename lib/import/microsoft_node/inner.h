/* SPDX-License-Identifier: Apache-2.0
   Nodes of ONNX within a node at hand that is made of them: values of a scope of its own, and the calls of such nodes,
   by the code that they have in the graph. A failure is kept, as everywhere in the import; values are NULL then. */
#ifndef HU_IMPORT_INNER_H
#define HU_IMPORT_INNER_H

#include "lib/import/importing.h"

enum { HU_INNER_VERSION = 21 }; /* of the operators that inner nodes are */

typedef struct hu_inner {
	hu_importing *c;
	hu_scope scope, *outer;
	int64_t version;
	char **name;
	size_t n, cap;
} hu_inner;

void hu_inner_begin(hu_inner *x, hu_importing *c);
/* V becomes output I of the node at hand. */
void hu_inner_put(hu_inner *x, size_t i, const hu_value *v);
void hu_inner_end(hu_inner *x);

/* A value of tensor T, in ONNX's order of elements; and one number. */
hu_value *hu_inner_value(hu_inner *x, int type, int rank, const size_t *d, int t);
hu_value *hu_inner_number(hu_inner *x, int type, double value);
/* The output of a node OP, whose code is CODE, with N operands, NULL where one is left out, and NATTR attributes. */
hu_value *hu_inner_node(hu_inner *x, hu_node_import *code, const char *op, hu_value *const *in, size_t n,
	const hu_onnx_attr *attr, size_t nattr);
hu_value *hu_inner_two(hu_inner *x, hu_node_import *code, const char *op, hu_value *a, hu_value *b);
hu_value *hu_inner_one(hu_inner *x, hu_node_import *code, const char *op, hu_value *a);

static inline hu_onnx_attr
hu_inner_real(const char *name, double x)
{
	return (hu_onnx_attr){ .name = name, .has_f = 1, .f = (float)x };
}

static inline hu_onnx_attr
hu_inner_whole(const char *name, int64_t x)
{
	return (hu_onnx_attr){ .name = name, .has_i = 1, .i = x };
}
#endif
