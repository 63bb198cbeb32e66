/* SPDX-License-Identifier: Apache-2.0
   From an ONNX model to a program: shapes inferred, constants computed once, operators mapped to those of
   lib/op/ops.def by the table operators.def. What the file holds is lib/store/onnx's business, what a call computes
   lib/op's. */
#ifndef HU_IMPORT_IMPORT_H
#define HU_IMPORT_IMPORT_H

#include "lib/program/exec.h"
#include "lib/store/onnx/onnx.h"

/* A size that the model leaves open and the user gives: dimension NAME has d[0] elements (rank 0), or input NAME has
   the shape d. With a value, input NAME, of one axis at most, is that number throughout, wherever the model runs, and
   so a constant. */
typedef struct hu_given {
	const char *name;
	int rank;
	size_t d[HU_RANK];
	const double *value;
} hu_given;

/* An input or output of the model. tensor is its id in the program, -1 for an input that nothing reads; elements stand
   in the order that ONNX has. type is ONNX's element type. axis: the one along which the inputs of a batch lie, which
   hu_import takes to be the first; whoever knows better says so. */
typedef struct hu_port {
	char *name;
	int tensor, type, rank, axis;
	size_t d[HU_RANK];
} hu_port;

/* A value of the main graph by ONNX's name and element type; tensor holds its elements, in ONNX's order, or where
   `last` is set with axis 1 last; it is -1 where no call needs it. constant: it depends on no input; of one that a node
   makes low and high are its finite elements' ends, and infinite says whether an element is, below 0 and above. */
typedef struct hu_imported_value {
	char *name;
	int type, rank, tensor, last, constant, infinite[2];
	size_t d[HU_RANK];
	double low, high;
} hu_imported_value;

/* A model as a forward program. Its constants are tensors that no call writes: those of floating-point types are state
   of class weight, indices and masks are of class other. Whole numbers of 32 and more bits are held in fp64, shorter
   ones and truth values in fp32. */
typedef struct hu_imported {
	hu_program *p;
	hu_port *in, *out;
	size_t nin, nout;
	hu_tensor *constant; /* by tensor id; data is NULL where the tensor is no constant */
	char *half;          /* by tensor id: a constant that the file has in 16 bits */
	char **node;         /* by call: the name of the node that it is part of */
	const char **op;     /* by call: that node's operator; points into the ONNX model */
	char *chooses;       /* the node whose inputs choose what runs, so that a batch is one choice; NULL: none */
	int narrow;          /* the file has float16 or bfloat16 */
	double code_bytes,   /* of the file's constants where some are codes of 8 bits or fewer, else 0 */
		float_bytes; /* and of its floating-point numbers of more bits */
	size_t asked;        /* of the outputs the last ones, which only hu_import_answered has */
	int stopped;         /* by the last of these */
	size_t nodes;        /* nodes of the graph that calls stand for, constants' not counted */
	hu_imported_value *value;
	size_t nvalue;
} hu_imported;

/* What becomes of values that the file has in float16 or bfloat16. TENSORS: every tensor has its type's format, and
   every call rounds to it. FLOAT32: they are float32. STRICT: nodes compute in float32, and the results of every node
   are rounded to their types, as runtimes for GPUs do. ORT_CPU: as ONNX Runtime does on a CPU, which has few kernels of
   float16 (half_kernels.def): it gives the other nodes float32, and drops a Cast of its own beside the one back. */
typedef enum hu_typing { HU_TYPING_TENSORS, HU_TYPING_FLOAT32, HU_TYPING_STRICT, HU_TYPING_ORT_CPU } hu_typing;

/* Returns 1 if ONNX Runtime's CPU has a kernel of float16 for the node's operator (half_kernels.def). */
int hu_typing_has_kernel(const hu_onnx_node *x);

/* ort/shape_reads.c. 1 where Shape node SHAPE of G reads another value once onnxruntime has optimised the graph, or is
   a constant: an input, or what an earlier node makes, is declared to have the same shape. */
int hu_shape_reads_other(const hu_onnx_graph *g, const hu_onnx_node *shape);

/* Makes the program of ONNX. HU_EFILE names the node that cannot be right, HU_EINVAL the size that is missing or does
   not fit, HU_EUNABLE every operator that is not known with its nodes. *M then needs no release; else ONNX must
   outlive it. */
hu_status hu_import(hu_imported *m, const hu_onnx *onnx, const hu_given *given, size_t ngiven, hu_typing typing);

/* Of one input: the values that shapes or choices of the model follow from, such as scores of which NonZero finds
   those above a threshold, in the order in which nodes ask for them. */
typedef struct hu_answer {
	size_t n;
	double *x;
} hu_answer;
typedef struct hu_answers {
	hu_answer *v;
	size_t n, cap;
} hu_answers;
void hu_answers_release(hu_answers *a);

/* As hu_import, for the one input whose elements FILL writes to the tensor of each of the model's inputs: computes the
   model at once, as float32 or TYPING has it. M's outputs are constants, and m->asked is 0. A becomes what was asked
   for, and needs hu_answers_release also after a failure. */
hu_status hu_import_computed(hu_imported *m, hu_answers *a, const hu_onnx *onnx, const hu_given *given, size_t ngiven,
	hu_typing typing, void (*fill)(void *of, const char *input, hu_tensor *t), void *of);
/* As hu_import, where nodes that ask for values get those of A as long as these have as many elements. The last
   m->asked of m->nout outputs are the values that were asked for. Where A did not have the last of them, m->stopped is
   set, and the model has no other outputs. */
hu_status hu_import_answered(hu_imported *m, const hu_answers *a, const hu_onnx *onnx, const hu_given *given,
	size_t ngiven, hu_typing typing);
void hu_imported_release(hu_imported *m);
/* Takes the values that were asked for off M's outputs. */
void hu_imported_asked_release(hu_imported *m);
/* Sets the bytes of codes and of other numbers that the constants of graph G take. */
void hu_imported_bytes(hu_imported *m, const hu_onnx_graph *g);

/* Writes the constants of M to the tensors of the same names in X, whose program may be a policy's version of M's:
   values are rounded to nearest in the tensors' formats. */
void hu_imported_load(const hu_imported *m, hu_exec *x);

/* 1 where elements of ONNX's type are whole numbers or truth values. */
int hu_import_whole(int type);

/* The operators of lib/op/ops.def that compute NODE, a blank between two; "moves" where elements only change places;
   NULL where the arithmetic is not known, of this version of the operators or with these attributes. */
const char *hu_onnx_arithmetic(const hu_onnx *m, const hu_onnx_node *node);

/* Sets *list, which the caller frees, to the nodes of the graph that need constants and read what depends on the
   model's inputs, so that the model does not run. Returns how many there are. Graphs inside nodes are not looked at. */
size_t hu_constants_only(const hu_onnx *m, const hu_onnx_node ***list);

/* 1 where the operator of NODE is known, or is a function of the model's own. */
int hu_import_is_known(const hu_onnx *m, const hu_onnx_node *node);
/* Sets *names, which the caller frees, to the values that the model computes of its inputs before the first nodes that
   do not run, because shapes there depend on data or their operators are not known: those which such nodes read, and
   outputs of the model, without whole numbers and truth values. Returns how many there are. */
size_t hu_import_before(const hu_onnx *m, const char ***names);
#endif
