/* SPDX-License-Identifier: Apache-2.0
   What the files of this folder share and nobody else includes: from protobuf's messages to the structs of onnx.h. */
#ifndef HU_STORE_ONNX_PARTS_H
#define HU_STORE_ONNX_PARTS_H

#include "lib/store/onnx/onnx.h"
#include "lib/store/onnx/onnx.pb-c.h"

typedef struct hu_onnx_map {
	char *location;
	void *bytes;
	size_t n;
} hu_onnx_map;

/* COUNT zeroed elements of SIZE bytes that M frees. */
void *hu_onnx_own(hu_onnx *m, size_t count, size_t size);

/* The tensor PB under NAME; WHERE says whose it is, for messages. */
hu_status hu_onnx_tensor(
	hu_onnx *m, hu_stensor *t, const Hu__Onnx__Pb__Tensor *pb, const char *name, const char *where);
/* The N bytes of tensor T that lie in a file of their own. */
hu_status hu_onnx_external(hu_onnx *m, const Hu__Onnx__Pb__Tensor *pb, const char *name, size_t n, const void **data);
void hu_onnx_unmap(hu_onnx *m);

/* In inner.c. Puts the graphs inside attributes back into M's message, where PUT is set, or takes them out again. */
void hu_onnx_inner(const hu_onnx *m, int put);
/* Gives a tensor that lies in a file of its own the bytes of T, which are mapped from there. Returns how many. */
size_t hu_onnx_inner_embed(Hu__Onnx__Pb__Tensor *to, const hu_stensor *t);
/* PB as a graph that M owns; DEPTH counts the graphs around it. */
hu_status hu_onnx_graph_of(hu_onnx *m, hu_onnx_graph **to, Hu__Onnx__Pb__Graph *pb, int depth);
hu_status hu_onnx_function_from(hu_onnx *m, hu_onnx_function *f, Hu__Onnx__Pb__Function *pb);

/* Checks every name of G and of the graphs in it, and orders the nodes. */
hu_status hu_onnx_order(const hu_onnx *m, hu_onnx_graph *g);
#endif
