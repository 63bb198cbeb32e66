/* SPDX-License-Identifier: Apache-2.0
   A model whose main graph is written anew, in memory: what a tool that rewrites graphs would have saved. */
#ifndef HU_STORE_ONNX_REWRITE_H
#define HU_STORE_ONNX_REWRITE_H

#include "lib/store/onnx/onnx.h"

/* The model under construction, TO, and room in its lists. */
typedef struct hu_onnx_rewrite {
	const hu_onnx *from;
	hu_onnx *to;
	size_t nodecap, initcap;
} hu_onnx_rewrite;

/* Makes TO a model with FROM's versions of operators, functions, inputs and outputs, and without nodes or initialisers.
   FROM must outlive TO, which hu_onnx_release frees. */
void hu_onnx_rewrite_begin(hu_onnx_rewrite *w, hu_onnx *to, const hu_onnx *from);

/* A text that the model owns. */
const char *hu_onnx_rewrite_text(hu_onnx_rewrite *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* COUNT zeroed elements of SIZE bytes that the model owns. */
void *hu_onnx_rewrite_room(hu_onnx_rewrite *w, size_t count, size_t size);
/* Appends a copy of LIKE, whose lists of inputs and outputs may be changed; valid until the next node is added. */
hu_onnx_node *hu_onnx_rewrite_copy(hu_onnx_rewrite *w, const hu_onnx_node *like);
/* Appends a node OP of ONNX's own domain, named after its output OUT, which reads the N values IN. The texts must
   outlive the model. */
hu_onnx_node *hu_onnx_rewrite_node(
	hu_onnx_rewrite *w, const char *op, const char *const *in, size_t n, const char *out);
/* Adds the attribute KEY, a whole number, to NODE. */
void hu_onnx_rewrite_attr(hu_onnx_rewrite *w, hu_onnx_node *node, const char *key, int64_t value);

/* Appends an initialiser: a copy of T's description, or of element type TYPE, whose zeroed bytes are returned. */
void hu_onnx_rewrite_keep(hu_onnx_rewrite *w, const hu_stensor *t);
void *hu_onnx_rewrite_constant(hu_onnx_rewrite *w, const char *name, int type, int rank, const size_t *d);
/* Imports VERSION of the operators of DOMAIN where none is imported yet. */
void hu_onnx_rewrite_domain(hu_onnx_rewrite *w, const char *domain, int64_t version);
/* Imports VERSION of ONNX's own operators in place of the model's. */
void hu_onnx_rewrite_version(hu_onnx_rewrite *w, int64_t version);
/* Makes what was written the model to start from, which is returned and TO keeps, and TO's graph empty again. */
const hu_onnx *hu_onnx_rewrite_again(hu_onnx_rewrite *w);
/* Orders the nodes, so that each follows those it reads from. HU_EFILE names what nothing makes, or two nodes do. */
hu_status hu_onnx_rewrite_end(hu_onnx_rewrite *w);
#endif
