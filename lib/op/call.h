/* SPDX-License-Identifier: Apache-2.0
   One operator call of a program: the operator, its tensors, their formats, the rounding and the order of summation.
   This is pure data. */
#ifndef HU_OP_CALL_H
#define HU_OP_CALL_H

#include "lib/number/round.h"
#include "lib/op/tensor.h"
#include "lib/sum/sum.h"

typedef struct hu_op hu_op;

typedef enum hu_phase { HU_FORWARD, HU_BACKWARD, HU_UPDATE } hu_phase;

/* The part that an operator plays where passes, interpreters and back ends must recognise it. Most operators have
   none. */
typedef enum hu_role {
	HU_ROLE_NONE,
	HU_ROLE_CAST,         /* rounds a tensor to another format, perhaps by a scale that is its second output */
	HU_ROLE_CHECK,        /* looks for gradients that are not finite; output 0 says whether the update is skipped */
	HU_ROLE_UNSCALE,      /* divides a gradient by the loss scale */
	HU_ROLE_SCALE_UPDATE, /* moves the loss scale */
	HU_ROLE_NORM,         /* the norm of all gradients together */
	HU_ROLE_PRODUCT,      /* the product of two matrices */
	HU_ROLE_ALL_REDUCE,   /* the sum of what ranks have, in the order of a collective operation */
	HU_ROLE_OPAQUE,       /* a recorded call of an operator that is not known: it has operands and results alone */
	HU_ROLE_SGD,          /* updates of a parameter by the optimizers that a device has kernels for */
	HU_ROLE_ADAM,
	HU_ROLE_ADAMW
} hu_role;

enum { HU_MAX_ATTR = 36 };

/* A named attribute. Its value is text, or the number num if text is empty. */
typedef struct hu_attr { char key[16]; double num; char text[40]; } hu_attr;

typedef struct hu_call {
	int id;                 /* the call's index in the program */
	const hu_op *op;
	hu_phase phase;
	char layer[96];
	int nin, nout;
	int *in, *out;          /* tensor ids, owned by the program */
	int nattr;
	hu_attr attr[HU_MAX_ATTR];
	struct { hu_format_id in, compute, acc, out; } fmt;
	hu_mode mode;           /* rounding to the output format */
	int flags;              /* HU_SATURATE or 0 */
	int loss;               /* 1 where the call is part of a loss, which every policy leaves in float32 or wider */
	hu_sum sum;             /* summation model of operators that sum products */
	char seed_name[192];    /* names the random stream of stochastic rounding (SR) */
	int opaque;             /* 1 + the number of what an opaque call is in its program (opaque.h); 0: none */
} hu_call;

/* Gives a call of the same operator another's attributes, formats, rounding, flags and order of sums, and whether it is
   part of a loss. Its tensors, phase, layer and random stream remain its own. */
void hu_call_copy_settings(hu_call *to, const hu_call *from);

/* The number or word of attribute key, or otherwise if the call has no such attribute. The setters add the attribute or
   overwrite it. */
double hu_attr_num(const hu_call *c, const char *key, double otherwise);
const char *hu_attr_text(const hu_call *c, const char *key, const char *otherwise);
void hu_attr_set(hu_call *c, const char *key, double num);
void hu_attr_set_text(hu_call *c, const char *key, const char *text);
#endif
