/* SPDX-License-Identifier: Apache-2.0
   The table of operators. An operator is one file that fills one hu_op, and one row of ops.def. Each interpreter
   (emulate, reference, bound, plan) calls one column of the row; operators with much in common take columns from their
   family. */
#ifndef HU_OP_OP_H
#define HU_OP_OP_H

#include "lib/number/count.h"
#include "lib/op/attr.h"
#include "lib/op/call.h"
#include "lib/sum/roundings.h"

#include <mpfr.h>

typedef struct hu_sink hu_sink;           /* lib/op/sink.h */
typedef struct hu_sum_call hu_sum_call;   /* lib/op/sum_call.h */

/* What an interpreter passes to an operator besides its tensors: the seed and the step that random bits are derived
   from. */
typedef struct hu_env { uint64_t seed; uint32_t step; } hu_env;

/* How a precision policy treats the operator (lib/program/policy/policy.c). */
typedef enum hu_class {
	HU_CLASS_GEMM,      /* products and sums: runs in the compute format, accumulates wider */
	HU_CLASS_POINTWISE, /* runs in the format of its inputs */
	HU_CLASS_NORM, /* batchnorm, layernorm: low-precision input and output, float32 arithmetic and parameters */
	HU_CLASS_LOSS,      /* inputs and outputs are always float32 */
	HU_CLASS_FIXED      /* casts, scaling, checks, updates: whoever adds the call sets the formats */
} hu_class;

/* The lists of operators that run in float32 whatever the format of their inputs: PyTorch's autocast has one, Apex's O1
   another. */
enum { HU_FLOAT32_AUTOCAST = 1, HU_FLOAT32_APEX = 2 };

/* Why an operator may make an infinity or NaN of finite operands, short of overflow: it divides by a number that may be
   0, or has a logarithm or root, whose argument may be out of range. Of an operator that has both, infinities are the
   division's and NaN is the domain's. */
enum { HU_UNDEFINED_DIVISION = 1, HU_UNDEFINED_DOMAIN = 2 };

/* What a device promises for the operator, whichever way computes products: the bits of the emulation, or, where a
   library chooses the order of the sums (gemm=cublas), a proven bound and the bits in every other way, or nothing,
   because there is no kernel and the back end cpu alone computes it. Held by t/cuda/u-cuda-op.c and u-cuda-cublas.c. */
typedef enum hu_parity { HU_PARITY_EXACT, HU_PARITY_BOUND, HU_PARITY_NONE } hu_parity;

/* What a call costs in a step that is not skipped, from its shapes alone. flops counts all operations on elements:
   arithmetic (a multiply-add is two), elementary functions, comparisons and a cast's rounding, but not the additions
   that join the lanes and parts of a sum. bytes_in and bytes_out are sizes in the formats' codes. reads is how many of
   the inputs, counted from the first, are read. unread is how many elements of the first input no output needs, such as
   pixels between the windows of a strided convolution. */
typedef struct hu_cost { double macs, flops, bytes_in, bytes_out, unread; int reads; } hu_cost;

/* The additions that a call performed (doc/formats.md has the definitions). A swamped addition left the accumulator
   unchanged although the number added was not zero. */
typedef struct hu_swamp { uint64_t additions, swamped, outputs, stagnated; } hu_swamp;

/* One backward call. operands, such as "d0 i1", lists its inputs: i are the forward call's inputs, o its outputs, d the
   gradients of its outputs; an optional input that the call does not have is left out. results, such as "i0", lists the
   inputs whose gradients it computes, in order. attrs, such as "tb=1 height=i0.1", is set besides the forward call's
   own attributes; i0.1 is dimension 1 of input 0. The rule applies to calls that have these inputs and whose attributes
   match when, such as "ta=1 tb=0" (an absent attribute is 0); NULL applies to all. */
typedef struct hu_grad { const char *op, *operands, *results, *attrs, *when; } hu_grad;
int hu_grad_applies(const hu_grad *g, const hu_call *c);

/* What can be done with an operator, one function each. Every function gets the call; a family's function reads the row
   c->op. */
typedef struct hu_columns {
	/* Computes the output shapes from input shapes and attributes. An out[k] whose rank or d[0] is not 0 on entry
	   was given by the caller and is checked instead. HU_EINVAL says which dimension of which operand does not
	   fit. */
	hu_status (*shape)(const hu_call *c, const hu_shape *in, hu_shape *out);

	/* Counts multiply-adds and other operations; the caller fills in the bytes. */
	void (*cost)(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost);

	/* Computes every output with the roundings that the call names. A NaN is stored as the format's single NaN. The
	   bits are the same for any number of threads and any instruction set. */
	hu_status (*emulate)(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);

	/* Computes n elements of output out alone, without blocking or vectors: value gets what emulate() stores there.
	   count, if not NULL, gets what swamping() counts. A NULL column means that only whole outputs can be
	   computed. */
	hu_status (*emulate_some)(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
		const hu_env *env, double *value, hu_swamp *count);

	/* Computes the exact value, or one off by at most 2^-200 of itself or of the magnitudes that it sums, of n
	   elements of output out, given in ascending order, from the recorded inputs. It is the
	   mathematical function without roundings, with the call's own attributes. The caller initialises exact[i];
	   its precision may be changed (mpfr_set_prec). Non-finite inputs give what IEEE arithmetic gives. It may use
	   threads. */
	hu_status (*reference)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);

	/* Computes the same values as enclosures (a value with an error bound), which is faster: n elements (the first
	   n if element is NULL), handed to sink in tiles, with bounds and magnitudes if the sink wants them. A NULL
	   column means that there is only the reference. */
	hu_status (*enclose)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink);

	/* Of how many elements of the largest output (the first of those) a range has to be a multiple so that a
	   process can judge the range, and the same share of each other output, by itself at about its share of what
	   the call costs: 1 where each element is computed alone, a row's length where a row's statistics are needed.
	   in: the inputs' shapes. 0, or a NULL column: such calls are not cut (products are, by hu_contract_tile). *row
	   is 0 before the call; where it is set to the length of that output's rows, a range is that many columns, or a
	   multiple, of all rows, and has the same columns of outputs that have one row. */
	size_t (*grain)(const hu_call *c, const hu_shape *in, size_t *row);

	/* Computes a proven bound on |emulated - exact| for n elements of output out, the final rounding included; +Inf
	   where overflow cannot be excluded. A NULL column means that the operator is exact (its bound is 0). */
	hu_status (*bound)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *bound);

	/* The coefficient of the a-priori error bound, which multiplies the sum of magnitudes, from the shapes alone;
	   `plan` prints it. NULL if there is none. */
	double (*unit_bound)(const hu_call *c, const hu_shape *in);

	/* Bytes that emulate() may allocate temporarily with this many threads, from the shapes. NULL: no more than
	   hu_exec_bytes allows for. */
	double (*workspace)(const hu_call *c, const hu_shape *in, int threads);

	/* Sum of the magnitudes of the terms behind each element (Σ|ab|, for condition numbers). NULL means |exact|. */
	hu_status (*magnitude)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *magnitude);

	/* How many roundings a term of one of output out's elements meets at most, for a probabilistic bound in terms
	   of the magnitudes above. NULL: the output is not a sum. */
	hu_roundings (*roundings)(const hu_call *c, hu_tensor *const *in, int out);

	/* Counts the additions of n elements of output out by replaying them in their order. NULL: the operator adds
	   nothing. */
	hu_status (*swamping)(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
		const hu_env *env, hu_swamp *count);

	/* For rows with `carried`, NULL elsewhere: emulates the outputs from that one on alone. */
	hu_status (*carry)(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);

	/* Describes a small call each of whose outputs sums the same n terms, by which the order of its sums can be
	   revealed (`tree`). NULL: the operator does not sum, or its terms are no products or elements of its
	   inputs. */
	void (*sum_call)(size_t n, hu_sum_call *s);

	/* For optimizers' updates, NULL elsewhere: counts updates over all elements of output 0, the new weights, which
	   out already holds. */
	void (*updates)(const hu_call *c, hu_tensor *const *in, const hu_tensor *out, hu_update_tally *count);
} hu_columns;

struct hu_op {
	const char *name, *summary;
	int min_in, max_in, nout;     /* max_in and nout are -1 for any number */
	const char *attrs;            /* the attributes it accepts, separated by blanks */
	hu_class cls;
	hu_role role;
	hu_parity parity;
	int float32;                  /* which lists (HU_FLOAT32_…) name the operator */
	/* The format of each output, one character per output. A digit names the input whose format it takes; '-', or
	   the end of the string, means the call's output format for output 0 and its compute format for the others.
	   NULL is "". */
	const char *like;
	/* Outputs whose values are the same in whatever format the call computes: one character per output, '=' for
	   such. NULL is "". Products need none (hu_op_computes). */
	const char *same;
	/* For optimizers' updates: one character per output, '1' for a first moment (a running mean of gradients), '2'
	   for a second moment (a running mean of their squares), '-' for neither. NULL is "". */
	const char *moment;
	/* Where the exact result of finite operands need not be a number (HU_UNDEFINED_…); and the operand that is
	   divided by, counted from 1, 0 where that is a number of its own, such as a deviation. */
	int undefined, divisor;
	/* From this operand on, inputs and outputs are statistics that pass from one micro-batch to the next: outputs
	   before it depend on inputs before it alone. 0: there are none. */
	int carried;
	/* 1: own columns add terms, by the model of a call that has the attribute `summed` (lib/op/reduce/summed.h). */
	int adds;

	/* own holds the row's own functions. family serves the columns that own leaves NULL; its functions read one of
	   the members below. family is NULL if the operator belongs to no family. */
	hu_columns own;
	const hu_columns *family;
	const struct hu_contract_own *contract;     /* for hu_family_contract: lib/op/contract/contract.h */
	const struct hu_pointwise *pointwise;       /* for hu_family_pointwise: lib/op/element/pointwise.h */
	const struct hu_moments *moments;           /* for hu_family_moments: lib/op/update/moments.h */
	const struct hu_moves_own *moves;           /* for hu_family_moves: lib/op/move/moves.h */
	const struct hu_stats_own *stats;           /* for hu_family_stats: lib/op/reduce/stats.h */
	const struct hu_reduce_own *reduce;         /* for hu_family_reduce: lib/op/reduce/reduce_family.h */
	const struct hu_extreme_own *extreme;       /* for hu_family_extreme: lib/op/axis/extreme.h */
	const struct hu_norm_own *norm;             /* for hu_family_norm and hu_family_norm_dx: lib/op/reduce/norm.h */

	const hu_grad *grad;          /* ends with an all-NULL row; NULL: not differentiable */
};

/* Returns 1 if output out depends on the format that the call computes in, by its values or because it has that format.
   Products and convolutions compute in their summation model's format. */
int hu_op_computes(const hu_op *op, int out);

/* The grain of operators whose elements are computed each alone. */
size_t hu_op_grain_one(const hu_call *c, const hu_shape *in, size_t *row);
/* The grain of a call, as in the column, 0 where that is NULL; *row is set in any case. */
size_t hu_op_grain(const hu_call *c, const hu_shape *in, size_t *row);

/* The function of row op in a column: its own, else its family's, else NULL. op is evaluated more than once. */
#define HU_COLUMN(op, column) \
	((op)->own.column ? (op)->own.column : (op)->family ? (op)->family->column : NULL)

/* One row per operator: OP(name). */
#define OP(name) extern const hu_op hu_op_##name;
#include "lib/op/ops.def"
#undef OP

const hu_op *hu_op_find(const char *name);    /* NULL if unknown */
const hu_op *hu_op_at(int i);                 /* row i; NULL past the last */
const hu_op *hu_op_of(hu_role role);          /* the first row that plays this part */
int hu_op_takes(const hu_op *op, const char *key);   /* 1 if key is one of its attributes */
int hu_op_takes_sum(const hu_op *op);   /* 1 if a call's summation model says how the operator adds */

/* Checks the attributes and applies the operator's shape rule; every call from a file or a command line passes here.
   Outputs with more elements than memory can address are HU_EINVAL, so that their hu_count cannot wrap. */
hu_status hu_op_shape(const hu_call *c, const hu_shape *in, hu_shape *out);
#endif
