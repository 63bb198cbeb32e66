/* SPDX-License-Identifier: Apache-2.0
   A training or evaluation step held as data: numbered tensors and a flat list of
   calls over them. Each tensor is written by at most one call (single assignment);
   a state tensor's `next` names the tensor whose value it takes when the step ends,
   so a trace of one step holds the old and the new value side by side. */
#ifndef HU_PROGRAM_PROGRAM_H
#define HU_PROGRAM_PROGRAM_H

#include "lib/op/op.h"

#include <jansson.h>
#include <stdio.h>

typedef enum hu_tclass { HU_ACTIVATION, HU_WEIGHT, HU_GRADIENT, HU_WGRAD, HU_OTHER, HU_TCLASSES } hu_tclass;

typedef struct hu_info {
	char name[64];        /* LAYER.ROLE[@FORMAT], unique in the program */
	char layer[32], role[16];
	hu_format_id format;
	hu_shape shape;
	hu_tclass cls;
	int state;            /* survives the step: the checkpoint and the digest */
	int trainable;        /* a parameter the optimizer moves */
	int next;             /* tensor whose value it takes at the step's end; -1: unchanged */
	int scale;            /* tensor holding the factor its values carry (scaled fp8 casts); -1: none */
	int producer;         /* call that writes it; -1: an input or state */
	int grad;             /* its gradient's tensor after differentiation; -1: none */
	int loss_scaled;      /* a gradient that carries S*W */
} hu_info;

typedef struct hu_program {
	char name[16];        /* "train" or "eval" */
	hu_info *t;
	int nt, tcap;
	hu_call *c;
	int nc, ccap;
} hu_program;

hu_program *hu_program_new(const char *name);
void hu_program_free(hu_program *p);
hu_program *hu_program_copy(const hu_program *p);

/* Adds a tensor and returns its id. The name "LAYER.ROLE[@FORMAT]" must be new (a bug otherwise). */
int hu_program_tensor(hu_program *p, const char *name, hu_format_id f, hu_shape s, hu_tclass cls);
/* The id of a name, or -1. */
int hu_program_find(const hu_program *p, const char *name);
/* Whether C moves a parameter: its first input becomes its first output when the step ends. */
int hu_is_update(const hu_program *p, const hu_call *c);
/* Where TENSOR is what a cast to a narrower format made: 1, the cast's operand, and the scale by which it was
   multiplied, -1: none. */
int hu_is_cast(const hu_program *p, int tensor, int *from, int *scale);

/* Appends a call and returns it (valid until the next append). OUT's tensors exist already,
   with shape and format; IN and OUT are copied. Formats, sum, seed name get the defaults:
   fmt.in and fmt.out from the first operands, compute fp32 (fp64 where an output, or the
   first input of a call that is no cast, check or update, is), acc and
   sum "fma" in compute, mode RNE, seed name = the first output's name. */
hu_call *hu_program_call(hu_program *p, const char *op, hu_phase phase, const char *layer, const int *in, int nin,
	const int *out, int nout);

/* Convenience for single-output calls: infers the shape by the operator's rule, makes the tensor
   (format F, class CLS) and appends the call. Aborts on a shape error (a bug in a builder). */
int hu_program_apply(hu_program *p, const char *op, hu_phase phase, const char *layer, const int *in, int nin,
	const char *out_name, hu_format_id f, hu_tclass cls, const hu_attr *attr, int nattr);

/* The format of the result of a product whose operands are in F, and of the gradient of a tensor in F. It is F itself,
   except for formats that are only ever operands: a product of tf32 makes float32, and one of 8 bits or fewer makes
   bfloat16. */
hu_format_id hu_program_product_format(hu_format_id f);

/* Tensor T in format F: itself, a cast made earlier (named after T, `@` and F), or that of a new call. Casts to 8 bits
   are scaled by the tensor's own magnitude and saturate; of what is stored in 8 bits, such a cast is exact. */
int hu_program_cast(hu_program *p, int t, hu_format_id f, hu_phase phase, const char *layer);

/* Shapes by the operators' rules, single assignment, producers before readers, known attributes,
   random streams without collision. HU_EFILE or HU_EINVAL names the call. */
hu_status hu_program_validate(const hu_program *p);

/* JSON as in doc/formats.md; hu_program_from_json validates and gives HU_EFILE with the place. */
json_t *hu_program_to_json(const hu_program *p);
hu_status hu_program_from_json(const json_t *j, hu_program **out);

/* One line a call, readable, aligned: `halfulp plan --program`. */
void hu_program_print(const hu_program *p, FILE *f);

/* Input and output shapes of a call gathered from the program. Room for nin / nout. */
void hu_call_shapes(const hu_program *p, const hu_call *c, hu_shape *in, hu_shape *out);
/* macs, flops and bytes of a call. */
hu_cost hu_call_cost(const hu_program *p, const hu_call *c);

const char *hu_phase_name(hu_phase phase);
const char *hu_tclass_name(hu_tclass cls);
/* Bytes a tensor takes in its format's own codes (sub-byte formats packed). */
double hu_info_bytes(const hu_info *t);
#endif
