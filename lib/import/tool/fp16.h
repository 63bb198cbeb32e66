/* SPDX-License-Identifier: Apache-2.0
   How converters to float16 differ; for this folder and those in it alone. */
#ifndef HU_IMPORT_TOOL_FP16_H
#define HU_IMPORT_TOOL_FP16_H

#include "lib/import/tool/rewriting.h"

/* Constants x with 0 < |x| < small become small with x's sign, or where loses_sign is set without it, and finite ones
   beyond LARGE become that. blocked: operators that stay float32. drops_pairs: a Cast to float16 whose only reader is a
   Cast to float32 is dropped with it. converts_all: a constant that blocked nodes read beside others is float16 for all
   of them, and Casts and ConstantOfShape to float32 become such to float16; where it is 0 the file has two types, and
   onnxruntime refuses it. scales_stay: Resize's scales stay float32. by_reader: each reader's type decides alone, so
   that nothing is rounded between blocked nodes, and nodes that make float32 of other types or constants are blocked;
   op_block then adds to BLOCKED. is_blocked: says of node I what else blocks it; NULL: nothing. */
typedef struct hu_fp16_rules {
	const char *tool, *blocked;
	float small, large;
	int drops_pairs, converts_all, scales_stay, by_reader, loses_sign;
	int (*is_blocked)(const hu_rewriting *x, size_t i);
} hu_fp16_rules;

/* How nvidia-modelopt converts, where nothing but its operators blocks a node. */
extern const hu_fp16_rules hu_fp16_modelopt;

/* Writes the model in float32, with a rounding to float16 wherever the converter's file has one. */
hu_status hu_fp16_write(hu_rewriting *x, const hu_fp16_rules *r);
/* fp16_inner.c. A number as the converter stores it; and so what node TO has of constants: the value of a Constant, and
   AffineGrid's places, whose type grid_node/affine_grid.c reads. */
float hu_fp16_converted(const hu_fp16_rules *r, float x);
void hu_fp16_constant_node(hu_rewriting *x, const hu_fp16_rules *r, hu_onnx_node *to);

/* fp16_inner.c. Converts the graphs inside node TO, of which the new graph has a copy: every result of float32 is
   rounded there, since converters drop Casts of the main graph alone. outer: gives the name under which these graphs
   read a value of the main one. HU_EUNABLE names what makes onnxruntime refuse the converter's file. */
typedef struct hu_fp16_around {
	hu_rewriting *x;
	const hu_fp16_rules *r;
	const char *(*outer)(void *of, const char *name);
	void *of;
} hu_fp16_around;
hu_status hu_fp16_inside(const hu_fp16_around *w, hu_onnx_node *to);
#endif
