/* SPDX-License-Identifier: Apache-2.0
   Small models of ONNX, made here with protobuf-c's own writer: a test changes a message and packs it. */
#ifndef HU_T_ONNX_MODEL_H
#define HU_T_ONNX_MODEL_H

#include "lib/store/onnx/onnx.pb-c.h"

#include <stddef.h>

typedef Hu__Onnx__Pb__Model pb_model;
typedef Hu__Onnx__Pb__Graph pb_graph;
typedef Hu__Onnx__Pb__Node pb_node;
typedef Hu__Onnx__Pb__Tensor pb_tensor;
typedef Hu__Onnx__Pb__Attribute pb_attribute;

/* All memory here is the test's to the end. */
pb_tensor *pb_tensor_raw(const char *name, int type, const void *bytes, size_t n, int rank, const int64_t *dims);
/* Names are separated by blanks; "-" is one that is left out. */
pb_node *pb_node_new(const char *op, const char *name, const char *in, const char *out);
pb_attribute *pb_node_attribute(pb_node *node, const char *name);
void pb_node_int(pb_node *node, const char *name, int64_t value);
void pb_add_node(pb_graph *g, pb_node *node);
void pb_add_tensor(pb_graph *g, pb_tensor *t);
/* An input or output of element type FLOAT; a dimension of -1 is the parameter N. */
void pb_add_value(pb_graph *g, int output, const char *name, int rank, const int64_t *dims);
pb_graph *pb_graph_new(const char *name);
/* Puts INNER into the node's attribute, packed. */
void pb_add_graph(pb_node *node, const char *attribute, const pb_graph *inner);
pb_model *pb_model_new(pb_graph *g, int opset);
/* The model's bytes. */
unsigned char *pb_pack(const pb_model *m, size_t *n);

/* conv -> relu -> gemm, nodes last to first, with a Constant, an If whose branches read names around them, and
   initialisers as raw bytes and in typed fields. */
pb_model *pb_sample(void);
#endif
