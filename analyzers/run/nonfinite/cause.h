/* SPDX-License-Identifier: Apache-2.0
   Why a call made the first number that is not finite. */
#ifndef HU_ANALYZERS_CAUSE_H
#define HU_ANALYZERS_CAUSE_H

#include "analyzers/run/analyzer.h"

typedef enum hu_origin_cause {
	HU_ORIGIN_OVERFLOW,   /* the exact value is beyond the output's format */
	HU_ORIGIN_INSIDE,     /* the exact value fits: a number on the way to it overflowed */
	HU_ORIGIN_DIVISION,   /* division by zero */
	HU_ORIGIN_CONSTANT,   /* the same, by a constant such as epsilon that is 0 in the format */
	HU_ORIGIN_RANGE,      /* logarithm or root of a number out of its range */
	HU_ORIGIN_DIFFERENCE, /* infinity minus infinity, or infinity times 0: an operand is infinite on purpose */
	HU_ORIGIN_OPAQUE,     /* nothing computes the operator */
	HU_ORIGIN_INPUT,      /* no call made it: it came with the data or the weights */
	HU_ORIGIN_CAUSES
} hu_origin_cause;

/* Element `element` of output k. value is what was recorded, exact what it should be (NaN where it is none or was not
   computed). constant: the value that is 0 in the format, under HU_ORIGIN_CONSTANT. operands: "name=value", where an
   operand has an element for each output's or one for all, and else "name|max|=value". */
typedef struct hu_origin {
	int found, k;
	hu_origin_cause cause;
	size_t element;
	double value, exact, constant;
	hu_str operands;
} hu_origin;

const char *hu_origin_name(hu_origin_cause cause);  /* in the table: overflow, division_by_zero, … */
const char *hu_origin_words(hu_origin_cause cause); /* in a sentence: "an overflow of the format" */

/* Fills in cause, exact, constant and operands of an element that call c made, whose operands are `in`. */
hu_status hu_origin_explain(
	hu_origin *o, const hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tensor *const *in);
#endif
