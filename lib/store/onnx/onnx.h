/* SPDX-License-Identifier: Apache-2.0
   ONNX models: graphs of nodes over named values, with their constant tensors. Reading trusts nothing in the file and
   copies it, but for external data, which is mapped. What an operator means is no business of this folder. */
#ifndef HU_STORE_ONNX_H
#define HU_STORE_ONNX_H

#include "lib/store/safetensors.h"

#include <jansson.h>
#include <stdint.h>

enum { HU_ONNX_DEPTH = 16 }; /* how deep graphs may nest in attributes */

/* Element types, by the format's numbers: HU_ONNX_FLOAT is 1. 0: not said. */
typedef enum hu_onnx_type {
#define TYPE(number, name, dtype, bits, field, entries) HU_ONNX_##name = number,
#include "lib/store/onnx/types.def"
#undef TYPE
} hu_onnx_type;

typedef struct hu_onnx_graph hu_onnx_graph;

/* A dimension: N, or -1 where it is PARAM ("" without a name). */
typedef struct hu_onnx_dim {
	int64_t n;
	const char *param;
} hu_onnx_dim;

/* What is declared of a graph's input, output or inner value. rank -1: nothing is said of its shape. */
typedef struct hu_onnx_value {
	const char *name;
	int type, rank;
	hu_onnx_dim dim[HU_SAFETENSORS_RANK];
} hu_onnx_value;

/* What the attribute holds is for the operator to know: each member is 0, NULL or empty where it is absent. */
typedef struct hu_onnx_attr {
	const char *name, *s, *ref; /* ref: in a function's body, the function's attribute that it stands for */
	int has_f, has_i;
	float f;
	int64_t i;
	size_t nfloats, nints, nstrings, ngraphs;
	const float *floats;
	const int64_t *ints;
	const char **strings;
	const hu_stensor *t;
	hu_onnx_graph **graphs;
} hu_onnx_attr;

/* An input "" is one that was left out. */
typedef struct hu_onnx_node {
	const char *name, *op, *domain; /* domain "" is ONNX's own */
	size_t nin, nout, nattr;
	const char **in, **out;
	hu_onnx_attr *attr;
} hu_onnx_node;

/* Nodes stand in an order in which each follows those it reads from, whatever the file had: the file's own where that
   is one. */
struct hu_onnx_graph {
	const char *name;
	hu_onnx_node *node;
	hu_stensor *init;               /* constant tensors by name */
	hu_onnx_value *in, *out, *info; /* of inputs some may be initialisers too: then they are defaults */
	size_t nnode, ninit, nin, nout, ninfo;
};

/* A function of the model's own: an operator NAME of DOMAIN whose meaning is a graph. */
typedef struct hu_onnx_function {
	const char *name, *domain;
	hu_onnx_graph *body;
} hu_onnx_function;
typedef struct hu_onnx_opset {
	const char *domain;
	int64_t version;
} hu_onnx_opset;

typedef struct hu_onnx {
	char *path;
	int64_t ir;
	hu_onnx_opset *opset;
	hu_onnx_function *function;
	hu_onnx_graph *graph;
	/* Every constant tensor: initialisers and values of Constant nodes (by the name of their output), also those of
	   graphs inside. A text's has no bytes. */
	const hu_stensor **tensor;
	size_t nopset, nfunction, n;
	/* Set by whoever says what it runs on, as no file does: ONNX Runtime's CPU, there with optimisations, an x86
	   processor without VNNI. */
	int ort, optimised, pairs16;
	/* Private. */
	void *message, **inner, **owned;
	size_t ninner, innercap, nowned, cap;
	struct hu_onnx_map *map;
	size_t nmap, mapcap;
} hu_onnx;

/* Reads PATH and checks all of it: that it is protobuf and a model, that every tensor has the bytes that its shape and
   type need, that external data lie in the model's own folder or below it, that every name a node reads is made once
   and no node needs itself. HU_EFILE says which node or tensor is wrong and how; *M is then empty and needs no release.
   External data must not be shortened while the model is open. */
hu_status hu_onnx_open(hu_onnx *m, const char *path);

/* The same for N bytes in memory, which are copied from; NAME is for messages and its folder holds external data. */
hu_status hu_onnx_parse(hu_onnx *m, const char *name, const void *bytes, size_t n);
void hu_onnx_release(hu_onnx *m);

/* Gives the memory of external data back until somebody reads them again. */
void hu_onnx_rest(const hu_onnx *m);

/* 1 where PATH ends as models of ONNX do: .onnx. Nothing in the format's bytes says so. */
int hu_onnx_is(const char *path);

/* Makes the N values NAMES of the main graph its outputs, and drops the nodes that none of them needs. HU_EINVAL where
   no node makes such a value. */
hu_status hu_onnx_cut(hu_onnx *m, const char *const *names, size_t n);
/* Adds the names that NODE reads to the object SET, those of the graphs in it too. */
void hu_onnx_node_reads(json_t *set, const hu_onnx_node *node);

/* Version of DOMAIN's operators; 0 where the model does not import them. */
int64_t hu_onnx_version(const hu_onnx *m, const char *domain);
/* The function that NODE calls; NULL where it is no function of the model's own. */
const hu_onnx_function *hu_onnx_function_of(const hu_onnx *m, const hu_onnx_node *node);

/* ONNX's name of an element type, "FLOAT16"; "?" for none. The type that has DTYPE, 0 for none. */
const char *hu_onnx_type_name(int type);
int hu_onnx_type_of(const char *dtype);

/* NODE's attribute NAME, and its value or OTHERWISE where it is absent. */
const hu_onnx_attr *hu_onnx_attr_find(const hu_onnx_node *node, const char *name);
int64_t hu_onnx_int(const hu_onnx_node *node, const char *name, int64_t otherwise);
float hu_onnx_float(const hu_onnx_node *node, const char *name, float otherwise);
const char *hu_onnx_text(const hu_onnx_node *node, const char *name, const char *otherwise);

/* Along which axes of the constant tensor NAME the products of its first reader are summed: K elements from axis AXIS
   on, INNER elements apart from each other. Of Conv's OIHW weights K are the input channels and the taps of a filter.
   0 where no Conv, ConvTranspose, Gemm or MatMul reads it as a factor; nothing is set then. */
typedef struct hu_onnx_axis {
	const hu_onnx_node *node;
	int axis;
	size_t k, inner;
} hu_onnx_axis;
int hu_onnx_axis_of(hu_onnx_axis *a, const hu_onnx *m, const hu_stensor *t);
#endif
