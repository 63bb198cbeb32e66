/* SPDX-License-Identifier: Apache-2.0
   A training or evaluation step as data: numbered tensors and a flat list of calls on them. Each tensor is written by
   at most one call (single assignment). A state tensor's `next` names the tensor whose value it takes when the step
   ends, so a trace of one step holds the old value and the new one. */
#ifndef HU_PROGRAM_PROGRAM_H
#define HU_PROGRAM_PROGRAM_H

#include "lib/op/op.h"

#include <jansson.h>
#include <stdio.h>

typedef enum hu_tclass { HU_ACTIVATION, HU_WEIGHT, HU_GRADIENT, HU_WGRAD, HU_OTHER, HU_TCLASSES } hu_tclass;

/* HU_NAME: room for a tensor's name, with its end */
enum { HU_NAME = 160 };

/* What a recorded program read of a tensor: numbers that it may have computed with, or those by which it may have
   searched, such as losses at weights that it updated before. */
typedef enum hu_program_read { HU_PROGRAM_READ_NONE, HU_PROGRAM_READ_NUMBER, HU_PROGRAM_READ_SEARCH } hu_program_read;

typedef struct hu_info {
	char name[HU_NAME];       /* LAYER.ROLE[@FORMAT], unique in the program */
	char layer[96], role[16];
	hu_format_id format;
	hu_shape shape;
	hu_tclass cls;
	int state;            /* survives the step; part of the checkpoint and the digest */
	int trainable;        /* a parameter that the optimizer updates */
	int next;             /* tensor whose value it takes when the step ends; -1: it keeps its own; of a recording
			         hu_program_next (links.h) tells, and so hu_program_grad of grad */
	int scale;            /* tensor with the factor its values are multiplied by (scaled fp8 casts); -1: none */
	int producer;         /* call that writes it; -1: an input or state */
	int grad;             /* tensor of its gradient after differentiation; -1: none */
	int loss_scaled;      /* it is a gradient multiplied by the loss scale and weight */
	int choice;           /* by its values the run chose what the program has as an input, such as an index */
	hu_program_read read;         /* whether, and for what, the recorded program read its values */
	int reused;           /* a framework that frees each micro-batch's tensors has no memory of its own for it */
	int own;              /* 1 + the micro-batch whose rank alone has this state or its next value; 0: all do */
} hu_info;

typedef struct hu_links hu_links;       /* links.h */
typedef struct hu_opaques hu_opaques;   /* opaque.h */

typedef struct hu_program {
	char name[16];        /* "train" or "eval" */
	hu_info *t;
	int nt, tcap;
	hu_call *c;
	int nc, ccap;
	int *index;           /* ids of tensors by the hash of their names, for hu_program_find; -1: none */
	size_t slots, filled; /* the index's length, a power of two, and how much of it is filled */
	hu_links *links;      /* of a recording whose steps differ; NULL elsewhere */
	hu_opaques *opaques;  /* NULL where no call is opaque */
} hu_program;

hu_program *hu_program_new(const char *name);
void hu_program_free(hu_program *p);
hu_program *hu_program_copy(const hu_program *p);

/* Adds a tensor and returns its id. The name "LAYER.ROLE[@FORMAT]" must be new; a duplicate aborts. */
int hu_program_tensor(hu_program *p, const char *name, hu_format_id f, hu_shape s, hu_tclass cls);
/* Returns the id of the tensor with this name, or -1. */
int hu_program_find(const hu_program *p, const char *name);
/* Makes the index of names anew: whoever moves tensors or changes names by hand has to call it. */
void hu_program_index(hu_program *p);
/* Returns 1 if c updates a parameter, that is if its first input becomes its first output when a step ends. */
int hu_is_update(const hu_program *p, const hu_call *c);
/* Which moment of a gradient a tensor holds, by the row of the operator that updates it: 1 for the first (a running
   mean), 2 for the second (of squares), 0 for neither. The tensor is a state, or the next value of one. */
int hu_program_moment(const hu_program *p, int tensor);
/* Returns 1 if the tensor is the output of a cast to a narrower format; *from gets the cast's input, *scale the tensor
   of its scale, -1 if it has none. */
int hu_is_cast(const hu_program *p, int tensor, int *from, int *scale);

/* Appends a call and returns it; the pointer is valid until the next append. out's tensors must exist, with shape and
   format; in and out are copied. Formats, sum and seed name get the defaults: fmt.in and fmt.out from the first
   operands; compute is fp32, or fp64 if an output is fp64 or the first input of a call other than a cast, check or
   update is; acc is compute and sum is "fma" in it; mode is RNE; the seed name is the first output's name. */
hu_call *hu_program_call(hu_program *p, const char *op, hu_phase phase, const char *layer, const int *in, int nin,
	const int *out, int nout);

/* Takes a call out of the program, or all from number n on. No call makes their outputs then. */
void hu_program_remove_call(hu_program *p, int call);
void hu_program_truncate(hu_program *p, int n);

/* For calls with a single output: infers its shape by the operator's rule, adds the tensor (format f, class cls) and
   appends the call. A shape error is a bug in a builder and aborts. */
int hu_program_apply(hu_program *p, const char *op, hu_phase phase, const char *layer, const int *in, int nin,
	const char *out_name, hu_format_id f, hu_tclass cls, const hu_attr *attr, int nattr);

/* The format of a product whose operands are in f, and of the gradient of a tensor in f. It is f itself, except for
   formats that serve only as operands: a product of tf32 gives float32, and one of 8 bits or fewer gives bfloat16. */
hu_format_id hu_program_product_format(hu_format_id f);

/* Returns tensor t in format f: t itself, an earlier cast of it (named after t, `@` and f), or the output of a new
   call. Casts to 8 bits are scaled by the tensor's largest magnitude and saturate; if t is stored in 8 bits the cast is
   exact. */
int hu_program_cast(hu_program *p, int t, hu_format_id f, hu_phase phase, const char *layer);

/* Returns 1 for a loss, and for the calls that one is made of. */
int hu_program_is_loss(const hu_call *c);
/* Marks the calls from number first on as those that a loss is made of. */
void hu_program_mark_loss(hu_program *p, int first);

/* Checks shapes by the operators' rules, single assignment, that producers come before readers, attributes, and that no
   two random streams coincide. HU_EFILE or HU_EINVAL names the call. */
hu_status hu_program_validate(const hu_program *p);

/* JSON as in doc/formats.md. hu_program_from_json validates; its HU_EFILE says where the error is. */
json_t *hu_program_to_json(const hu_program *p);
hu_status hu_program_from_json(const json_t *j, hu_program **out);

/* Prints one aligned line per call, for `halfulp plan --program`. */
void hu_program_print(const hu_program *p, FILE *f);

/* For each tensor the call after which it is not read any more; freed by the caller. */
int *hu_program_last_uses(const hu_program *p);
/* Collects input and output shapes of a call from the program; in and out need room for nin and nout. */
void hu_call_shapes(const hu_program *p, const hu_call *c, hu_shape *in, hu_shape *out);
/* Multiply-adds, operations and bytes of a call. */
hu_cost hu_call_cost(const hu_program *p, const hu_call *c);

const char *hu_phase_name(hu_phase phase);
const char *hu_tclass_name(hu_tclass cls);
/* Bytes that a tensor takes in its format's codes; formats of less than a byte are packed. */
double hu_info_bytes(const hu_info *t);
#endif
