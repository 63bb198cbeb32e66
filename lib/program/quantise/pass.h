/* SPDX-License-Identifier: Apache-2.0
   The pass that makes a version of schemes, call by call: its state, and what its files share; for this folder
   alone. */
#ifndef HU_PROGRAM_QUANTISE_PASS_H
#define HU_PROGRAM_QUANTISE_PASS_H

#include "lib/program/quantise/version.h"

typedef struct hu_quantise_pass {
	const hu_scheme_plan *plan;
	const hu_program *from;
	hu_program *to;
	hu_version *v;
	size_t cap; /* of the version's arrays */
	int *raw;   /* by tensor of from: as its node's own calls read it; -1: as everyone */
	const hu_call *c;
	const hu_scheme *s;
	/* The product that was made last, and the factors that its sums are multiplied by, a number a column; NULL
	   where these are not known beforehand. */
	const hu_call *product;
	float *factors;
} hu_quantise_pass;

/* pass_build.c. Room for what the version knows of tensor ID. */
void hu_quantise_note(hu_quantise_pass *x, int id);
/* A tensor named STEM@WORD, or with a number where that is taken. */
int hu_quantise_tensor(
	hu_quantise_pass *x, const char *stem, const char *word, hu_format_id f, hu_shape s, hu_tclass cls);
/* A constant float32 tensor; DATA is taken over. */
int hu_quantise_constant(hu_quantise_pass *x, const char *stem, const char *word, hu_shape s, float *data);
int hu_quantise_number(hu_quantise_pass *x, const char *stem, const char *word, float value);
/* A call of one output in the node at hand, whose output is STEM@WORD of format F. */
int hu_quantise_call(hu_quantise_pass *x, const char *op, const int *in, int nin, const char *stem, const char *word,
	hu_format_id f, const hu_attr *attr, int nattr);
/* Tensor T of the original, as calls of other nodes read it. */
int hu_quantise_outer(const hu_quantise_pass *x, int t);

/* pass_product.c. 1 where the call's operands become codes. */
int hu_quantise_is_coded(const hu_scheme_plan *plan, const hu_call *c, const hu_scheme *s);
/* The product at hand: of codes, dequantised under its output's name. HU_EUNABLE where its sums could leave 32 bits. */
hu_status hu_quantise_product(hu_quantise_pass *x);
#endif
