/* SPDX-License-Identifier: Apache-2.0
   What the tools' files share: the graph under rewriting, its values by name, and how these tools quantise; for this
   folder and those in it alone. */
#ifndef HU_IMPORT_TOOL_REWRITING_H
#define HU_IMPORT_TOOL_REWRITING_H

#include "lib/import/tool/tool.h"
#include "lib/base/str.h"
#include "lib/store/onnx/rewrite.h"

#include <jansson.h>

/* A value of the main graph. type: ONNX's, 0 where nothing is known. init: the initialiser that it is, NULL: none.
   readers: how often nodes of the main graph read it. rank and d: its shape, rank -1 where it is not known. seen:
   calibration showed low and high, and infinite: infinities or NaN beside them. range: what it showed, NULL of
   constants. */
typedef struct hu_tool_value {
	const char *name;
	int type, is_in, is_out, seen, infinite, rank;
	const hu_stensor *init;
	size_t readers, d[HU_RANK];
	double low, high;
	const hu_range *range;
} hu_tool_value;

typedef struct hu_rewriting {
	const hu_tool *t;
	const hu_onnx *from;
	hu_onnx_rewrite w;
	/* Nodes of FROM, whose lists of names may change, and which of them the tool drops. */
	hu_onnx_node *node;
	char *dropped;
	size_t n;
	json_t *ids;
	hu_tool_value *value;
	size_t nvalue, cap;
	hu_str notes;
} hu_rewriting;

/* The tools' codes: hu_tool_CODE writes x->w. */
typedef hu_status hu_tool_code(hu_rewriting *x);
#define TOOL(name, code, calibrates, runs, words, summary) hu_tool_code hu_tool_##code;
#include "lib/import/tool/tools.def"
#undef TOOL

/* rewriting.c. The number of value NAME, -1 where there is none; a new one. */
int hu_rewriting_find(const hu_rewriting *x, const char *name);
int hu_rewriting_id(hu_rewriting *x, const char *name);
/* 1 where the options leave NODE, of an operator in DEFAULTS (blanks between) unless op_types says others, to the
   tool. */
int hu_rewriting_wants(const hu_rewriting *x, const hu_onnx_node *node, const char *defaults);
int hu_rewriting_listed(const hu_tool_list *l, const char *name);
/* 1 where LIST, words with blanks between, has WORD. */
int hu_rewriting_has(const char *list, const char *word);
/* float32 data of an initialiser; NULL where it has another type. */
const float *hu_rewriting_floats(const hu_stensor *t);
/* Lists the values of x->from, and copies its nodes. */
void hu_rewriting_list(hu_rewriting *x);
void hu_rewriting_nodes(hu_rewriting *x);
/* Drops initialisers that nothing in the new graph reads; before that, keeps those of x->from that it does not make. */
void hu_rewriting_clean(hu_rewriting *x);
void hu_rewriting_close(hu_rewriting *x);
/* Makes the new graph the one to start from, for a tool that rewrites a model in two steps; values keep their numbers
   and ranges. Failures as hu_onnx_rewrite_end. */
hu_status hu_rewriting_again(hu_rewriting *x);

/* older.c. Makes the new graph's operators those of version 11 where they are of before version 10, as onnxruntime's
   quantisers do. HU_EUNABLE names a node whose operator means something else there. */
hu_status hu_rewriting_newer(hu_rewriting *x);
/* ort_fuse.c. Makes kernels of codes of nodes between DequantizeLinear and QuantizeLinear in the graph under way, as
   onnxruntime's optimisations do. */
void hu_ort_fuse(hu_onnx_rewrite *w);
/* ort_nbits.c. Puts CODE at place I of bytes that pack codes of BITS (1, 2, 4 or 8), the first one in the low bits, as
   MatMulNBits has them; the place must be 0 before. */
void hu_nbits_put(uint8_t *bytes, size_t i, int bits, unsigned code);
/* ort_fuse_nbits.c. Makes MatMulNBits of products with weights of 4 and 8 bits that are codes alone; for ort_fuse.c. */
void hu_ort_fuse_nbits(hu_onnx_rewrite *w);

/* affine.c. Makes two pairs of QuantizeLinear and DequantizeLinear in a row one, of the range that both have in common,
   as onnxruntime's optimisations do; a Cast of float32 to float32 between them, as exporters write behind a softmax, is
   nothing to it. */
void hu_affine_pairs(hu_onnx_rewrite *w);
/* The range of integer codes of 8 bits of ONNX's TYPE as these tools choose it. */
void hu_affine_limits(int type, int reduced, int symmetric, int *low, int *high);
/* Scale and zero point of [LOW, HIGH]: 0 is included; the scale is rounded to float32 once, and the zero point is that
   of the scale before. A range below 255 times the smallest normal number has scale 1 and zero point 0. */
typedef struct hu_affine_scale {
	float scale;
	int zero;
} hu_affine_scale;
hu_affine_scale hu_affine_scale_of(double low, double high, int type, int reduced, int symmetric);

/* The scales of a tensor's codes of TYPE: n along axis AXIS, or one for all where AXIS is below 0. The model owns s. */
typedef struct hu_affine_grid {
	int type, axis;
	size_t n;
	hu_affine_scale *s;
} hu_affine_grid;
hu_affine_grid hu_affine_grid_of(hu_rewriting *x, const hu_stensor *t, int type, int axis, int reduced, int symmetric);
/* Stores T's codes, rint(fl32(x / scale)) + zero within the type, as STEM_quantized, and STEM_scale and
   STEM_zero_point. */
void hu_affine_store(hu_rewriting *x, const hu_stensor *t, const char *stem, const hu_affine_grid *g);
#endif
