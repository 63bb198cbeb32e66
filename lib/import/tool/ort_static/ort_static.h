/* SPDX-License-Identifier: Apache-2.0
   The marks that quantize_static's operators leave on tensors; for this folder and those in it alone. */
#ifndef HU_IMPORT_TOOL_ORT_STATIC_H
#define HU_IMPORT_TOOL_ORT_STATIC_H

#include "lib/import/tool/rewriting.h"

#include <stdint.h>

/* An activation has its own scale, a shared one that of another value; an initialiser marked as an activation has
   codes of the activations' type. */
typedef enum hu_mark_kind { HU_MARK_NONE, HU_MARK_ACTIVATION, HU_MARK_SHARED, HU_MARK_WEIGHT } hu_mark_kind;

/* other: the value whose scale is shared. axis: of a weight's channels, -1: one scale for all. bias: it is in the list
   of biases too. */
typedef struct hu_mark {
	hu_mark_kind kind;
	int other, axis, bias;
} hu_mark;

/* Value v becomes int32 codes of T by the scales of values in and weight, times beta; grown: the weight's scale grew
 * for it. */
typedef struct hu_bias_mark {
	int v, in, weight, grown;
	float beta;
	const hu_stensor *t;
} hu_bias_mark;

typedef struct hu_ort_static {
	hu_rewriting *x;
	const char *operators; /* that the tool quantises */
	hu_mark *mark;         /* by value */
	char *calibrated;      /* by value: the tool knows its range */
	hu_bias_mark *bias;
	size_t nbias, biascap;
	const char *taken; /* the name of a copy of a bias that another value has; NULL: none */
	/* Where it is no NULL, by node: bit K is set where operand K is the value itself, though others read its
	   codes. */
	const uint64_t *raw;
	/* Where it is no NULL, what numbers become before they are codes, and what scales become. */
	float (*stored)(float x);
} hu_ort_static;

/* ort_static.c. Value NAME gets a scale of its own, unless it is marked already. Of a weight each channel along AXIS
   has one where that was asked for; of what is no initialiser it is an activation's. */
void hu_ort_static_mark(hu_ort_static *s, const char *name, hu_mark_kind kind);
void hu_ort_static_mark_weight(hu_ort_static *s, const char *name, int axis);

/* ort_static_notes.c. Sentences on what quantize_static's file does wrong to this model. */
void hu_ort_static_notes(hu_ort_static *s);

/* ort_static_write.c. Writes the nodes, with those that the marks ask for. */
hu_status hu_ort_static_write(hu_ort_static *s);
/* Lets the scales G of a weight grow where the int32 codes of the N numbers BIAS, by them and the scale IN, would leave
   32 bits. IS_CONSTANT: the weight is an initialiser, the only ones that grow. Returns 1 where a scale grew. */
int hu_ort_static_grow(hu_affine_grid *g, float in, const float *bias, size_t n, int is_constant);

/* ort_static_operators.c. Writes the format QOperator, and its notes. */
hu_status hu_ort_static_operators(hu_ort_static *s);
#endif
