/* SPDX-License-Identifier: Apache-2.0
   The op table: an operator is one file that fills one hu_op, and one row of
   ops.def. Every interpreter (emulate, reference, bound, plan) is a column, which operators that have much in common
   take from their family. */
#ifndef HU_OP_OP_H
#define HU_OP_OP_H

#include "lib/number/count.h"
#include "lib/op/attr.h"
#include "lib/op/call.h"
#include "lib/sum/roundings.h"

#include <mpfr.h>

typedef struct hu_sink hu_sink;   /* lib/op/sink.h */

/* What an interpreter hands to an operator beside its tensors. */
typedef struct hu_env { uint64_t seed; uint32_t step; } hu_env;

/* How a precision policy treats the operator (lib/program/policy.c). */
typedef enum hu_class {
	HU_CLASS_GEMM,      /* products and sums: runs in the compute format, accumulates wider */
	HU_CLASS_POINTWISE, /* runs in whatever format its inputs are */
	HU_CLASS_NORM,      /* batchnorm, layernorm: low in and out, float32 inside and float32 parameters */
	HU_CLASS_LOSS,      /* always float32 inputs and outputs */
	HU_CLASS_FIXED      /* casts, scaling, checks, updates: formats are given by who adds the call */
} hu_class;

/* The lists of operators that run in float32 whatever their inputs are: PyTorch's autocast has one, Apex's O1 another.
 */
enum { HU_FLOAT32_AUTOCAST = 1, HU_FLOAT32_APEX = 2 };

/* What an operator is to passes and interpreters that must know one among the others; most are none of these. */
typedef enum hu_role {
	HU_ROLE_NONE,
	HU_ROLE_CAST,         /* rounds a tensor to another format, perhaps by a scale that is its second output */
	HU_ROLE_CHECK,        /* looks for gradients that are not finite; output 0 says whether the update is skipped */
	HU_ROLE_UNSCALE,      /* divides a gradient by the loss scale */
	HU_ROLE_SCALE_UPDATE, /* moves the loss scale */
	HU_ROLE_NORM          /* the norm of all gradients together */
} hu_role;

typedef enum hu_parity { HU_PARITY_EXACT, HU_PARITY_BOUND } hu_parity;

/* What a call costs, from shapes alone, in a step that is not skipped. flops: all operations on elements, a
   multiply-add being two: arithmetic, elementary functions, comparisons, and a cast's rounding; not the additions that
   join the lanes and parts of a sum. Bytes are those of the formats' codes; READS: of its inputs, how many are read,
   from the first on; UNREAD: elements of the first that no output needs (pixels between a stride's windows). */
typedef struct hu_cost { double macs, flops, bytes_in, bytes_out, unread; int reads; } hu_cost;

/* Additions that a call performed, as defined in doc/formats.md: swamped ones
   left the accumulator equal to the other operand although this one was nonzero. */
typedef struct hu_swamp { uint64_t additions, swamped, outputs, stagnated; } hu_swamp;

/* One backward call: operands "d0 i1" name the forward call's inputs (i), outputs
   (o) and the gradients of its outputs (d); results "i0" names the inputs whose
   gradients come out, in order; attrs "tb=1 height=i0.1" are set beside the forward call's
   own (i0.1: dimension 1 of its input 0). The rule is for calls whose attributes are as WHEN, "ta=1 tb=0", says
   (an absent one is 0); NULL: for all. */
typedef struct hu_grad { const char *op, *operands, *results, *attrs, *when; } hu_grad;
int hu_grad_applies(const hu_grad *g, const hu_call *c);

/* What is done with an operator, a function each. All get the call, whose row, c->op, a family's functions read. */
typedef struct hu_columns {
	/* Output shapes from input shapes and attributes. An out[k] whose rank is not 0 or
	   whose d[0] is not 0 on entry was given by the caller and is checked instead of
	   inferred. HU_EINVAL says which dimension of which operand does not fit. */
	hu_status (*shape)(const hu_call *c, const hu_shape *in, hu_shape *out);

	/* Multiply-adds and other operations (bytes are filled in by the caller). */
	void (*cost)(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost);

	/* Computes every output, rounding as the call says; NaN outputs are the format's
	   one NaN. Same bits for any number of threads and any instruction set. */
	hu_status (*emulate)(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);

	/* N elements of output OUT alone, the plain way: VALUE gets what emulate() stores there; COUNT, which may
	   be NULL, as by swamping(). NULL: only whole outputs. */
	hu_status (*emulate_some)(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
		const hu_env *env, double *value, hu_swamp *count);

	/* The exact (or to >= 200 bits correctly rounded) value of N elements, in ascending
	   order, of output OUT, from the recorded inputs: the mathematical function, no
	   roundings but the call's own integer attributes. exact[i] is initialised by the
	   caller; its precision may be changed (mpfr_set_prec). Non-finite inputs give what
	   IEEE arithmetic gives. May use threads. */
	hu_status (*reference)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);

	/* The same values as enclosures, fast: N elements (ELEMENT NULL: the first N, all of them), in tiles, to
	   SINK, with their bounds and magnitudes where it wants them. NULL: there is the reference alone. */
	hu_status (*enclose)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink);

	/* A proven bound on |emulated - exact| for N elements of output OUT, the final
	   rounding included; +Inf where overflow cannot be excluded. May be NULL for
	   operators that are exact or have no rounding (their bound is 0). */
	hu_status (*bound)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *bound);

	/* The relative coefficient of the a-priori bound from shapes alone (times the sum of
	   magnitudes), for `plan`. NULL where there is none. */
	double (*unit_bound)(const hu_call *c, const hu_shape *in);

	/* Bytes that emulate() may allocate on its way with THREADS threads, from shapes; NULL: no more than
	   hu_exec_bytes allows for. */
	double (*workspace)(const hu_call *c, const hu_shape *in, int threads);

	/* Sum of magnitudes behind each element (Σ|ab|, for condition numbers); NULL: |exact|. */
	hu_status (*magnitude)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *magnitude);

	/* The roundings that a term of output OUT's elements meets, the most of them, for a probabilistic bound on the
	   magnitudes above. NULL: the output is no sum. */
	hu_roundings (*roundings)(const hu_call *c, hu_tensor *const *in, int out);

	/* Counts the additions of N elements of output OUT by replaying them in their order; NULL: it adds nothing. */
	hu_status (*swamping)(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
		const hu_env *env, hu_swamp *count);

	/* Of optimizers' updates, NULL elsewhere: counts all elements of output 0, the new weights, which OUT holds
	   already. */
	void (*updates)(const hu_call *c, hu_tensor *const *in, const hu_tensor *out, hu_update_tally *count);
} hu_columns;

struct hu_op {
	const char *name, *summary;
	int min_in, max_in, nout;     /* max_in -1: any number */
	const char *attrs;            /* "key key …" it understands */
	hu_class cls;
	hu_role role;
	hu_parity parity;
	int float32;                  /* the lists that name the operator, HU_FLOAT32_… */
	/* The format of each output, a character an output: a digit is the input whose format it has; '-', or the end
	   of the string, means the call's output format for output 0 and its compute format for the others. NULL: "".
	 */
	const char *like;

	/* The functions that are the row's own, and those that serve where it has none: of a family of operators that
	   differ in little, which a row says in what its family reads of it. NULL: of no family. */
	hu_columns own;
	const hu_columns *family;
	const struct hu_contract_own *contract;     /* of hu_family_contract: lib/op/contract/contract.h */
	const struct hu_pointwise *pointwise;       /* of hu_family_pointwise: lib/op/element/pointwise.h */
	const struct hu_moments *moments;           /* of hu_family_moments: lib/op/element/moments.h */
	const struct hu_moves_own *moves;           /* of hu_family_moves: lib/op/move/moves.h */
	const struct hu_norm_own *norm;             /* of hu_family_norm and hu_family_norm_dx: lib/op/reduce/norm.h */

	const hu_grad *grad;          /* ends with an all-NULL row; NULL: not differentiable */
};

/* The function of the row OP in that column: its own, its family's, or NULL. OP is evaluated more than once. */
#define HU_COLUMN(op, column) \
	((op)->own.column ? (op)->own.column : (op)->family ? (op)->family->column : NULL)

/* One row an operator: OP(name). */
#define OP(name) extern const hu_op hu_op_##name;
#include "lib/op/ops.def"
#undef OP

const hu_op *hu_op_find(const char *name);    /* NULL where unknown */
const hu_op *hu_op_at(int i);                 /* row I; NULL past the last */
int hu_op_takes(const hu_op *op, const char *key);   /* KEY is one of its attributes */

/* The operator's shape rule behind hu_attr_check: what every call from a file or a command line passes. Outputs of more
   elements than memory can be addressed for are HU_EINVAL, so that no hu_count of theirs wraps. */
hu_status hu_op_shape(const hu_call *c, const hu_shape *in, hu_shape *out);
#endif
