/* SPDX-License-Identifier: Apache-2.0
   What the kinds of remedies share, for this folder alone. */
#ifndef HU_ANALYZERS_ADVISE_REMEDY_H
#define HU_ANALYZERS_ADVISE_REMEDY_H

#include "analyzers/advise/remedy/remedy_channels.h"

#include "lib/base/str.h"
#include "lib/store/onnx/edit.h"

/* A model under change. near: by node of the main graph, whether its code may change it. strength: as the row of
   remedies.def has it. seen: what products read, and n: the network of m with its
   ranges; of codes alone. sentences gets one for each place that was changed,
   a line each, and changed counts them. */
typedef struct hu_remedying {
	const hu_onnx *m;
	const hu_remedy_channels *seen;
	const hu_network *n;
	hu_onnx_edit *e;
	const char *near;
	double strength;
	hu_str sentences;
	size_t changed;
} hu_remedying;

typedef void hu_remedy_code(hu_remedying *r);
#define REMEDY(name, code, of, first, second, summary) hu_remedy_code hu_remedy_##code;
#include "analyzers/advise/remedy/remedies.def"
#undef REMEDY

/* remedy_graph.c. The float32 elements of constant NAME of the main graph, which the model owns, and their number;
   NULL where it is no such constant. */
const float *hu_remedy_constant(const hu_onnx *m, const char *name, const hu_stensor **t);
/* The node of the main graph that makes VALUE, and the only one that reads it; -1 where there is none, or several. */
int hu_remedy_maker(const hu_onnx *m, const char *value);
int hu_remedy_reader(const hu_onnx *m, const char *value);
/* The node's number in the file that is changed; -1 where its name is not its own. */
int hu_remedy_node(const hu_remedying *r, size_t node);
/* Makes input K of the node X, which is constant T, another constant of the same shape with the elements TO. */
void hu_remedy_replace(hu_remedying *r, int node, size_t k, const hu_stensor *t, const float *to);
/* Number X as a new constant, named after STEM. */
const char *hu_remedy_number(hu_remedying *r, const char *stem, double x);
#endif
