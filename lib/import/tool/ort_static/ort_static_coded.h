/* SPDX-License-Identifier: Apache-2.0
   Values as codes in quantize_static's format QOperator; for this folder alone. */
#ifndef HU_IMPORT_TOOL_ORT_STATIC_CODED_H
#define HU_IMPORT_TOOL_ORT_STATIC_CODED_H

#include "lib/import/tool/ort_static/ort_static.h"

/* The codes of a value: their name and those of its scale and zero point; codes is NULL of what has none. */
typedef struct hu_ort_coded {
	const char *codes, *scale, *zero;
	hu_affine_grid g;
	const float *bias; /* of a bias: its scales */
} hu_ort_coded;

typedef struct hu_ort_coding {
	hu_ort_static *s;
	hu_rewriting *x;
	hu_ort_coded *q; /* by value */
	char *is_made;   /* by value: a node or the caller makes its numbers */
	char *scaled;    /* by value: its own scale is stored */
	char *stored;    /* by value: an initialiser whose codes are stored when all scales are known */
	char *refused;   /* by value: a constant of Pad, which the tool takes away */
} hu_ort_coding;

/* ort_static_coded.c. Value V's own scale, stored once; a fixed one where SCALE is not 0. codes is NULL where
   calibration shows no range. */
hu_ort_coded hu_ort_static_own(hu_ort_coding *w, int v, float scale, int zero);
/* The codes of operand NAME: those it has, an initialiser's as WEIGHT or activation along AXIS (-1: one scale), or of
   QuantizeLinear. codes is NULL where there is no range. */
hu_ort_coded hu_ort_static_operand(hu_ort_coding *w, const char *name, int weight, int axis, int type);
/* Makes the numbers of NAME for a float reader, where only its codes are there. */
void hu_ort_static_read(hu_ort_coding *w, const char *name);
#endif
