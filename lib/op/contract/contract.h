/* SPDX-License-Identifier: Apache-2.0
   What matmul and the convolutions have in common: y[m,n] = Σ_k A[m,k] B[k,n], where A and
   B are read in place through an index map (implicit GEMM: no unrolled copy of an image). A call may be several such
   products, which share nothing but their tensors: one a batch (leading dimensions of a matmul, a group of a
   convolution's channels), and in each batch one a share of the output's rows, whose sums have terms of their own (a
   strided convolution's data gradient).
   Each such operator is its map, its shape rule and its gradient rule; all that computes
   and judges stands once, in hu_family_contract. */
#ifndef HU_OP_CONTRACT_H
#define HU_OP_CONTRACT_H

#include "lib/op/op.h"
#include "lib/sum/bound.h"

typedef struct hu_contract hu_contract;

/* A stretch of row M of A: elements k .. k+length-1 lie at offset, offset + stride, …
   of tensor a; at HU_TAP_OUTSIDE they are +0, since the tap lies outside the image. */
typedef struct hu_stretch { ptrdiff_t offset; size_t stride, length; } hu_stretch;
enum { HU_TAP_OUTSIDE = -1 };

struct hu_contract {
	/* Of one product; of the whole call, one batch's rows and columns, and the most terms that a sum of it has. */
	size_t m, n, k;
	/* Output (m, n) of batch i is element i * batch_step + m * row_step + n; either step contains the other. row(),
	   column() and place() speak of batch BATCH. hu_contract_describe sets the steps where there is one batch: its
	   rows lie side by side. */
	size_t batches, batch, batch_step, row_step;
	size_t terms;                                       /* term k of output e draws random bits e * terms + k */
	const hu_tensor *a, *b;
	hu_stretch (*row)(const hu_contract *c, size_t m, size_t k);
	size_t (*column)(const hu_contract *c, size_t k);   /* offset of B[k,0] in b */
	size_t column_stride;                               /* from B[k,n] to B[k,n+1] */
	/* Geometry of a convolution: how many images, their extents, kernel, outputs, strides, dilations, padding
	   before; a group's channels and all. */
	size_t images, h, w, ci, kh, kw, ho, wo, co, sh, sw, dh, dw, cin, cout;
	ptrdiff_t pad_h, pad_w;
	double scale;                                       /* the result is divided by it: a power of two */
	/* Shares of a batch's rows; where it is 1 the functions are not called. share() makes a batch's description
	   that of its share I, place() tells which of the batch's rows a share's row M is, and owner() the share and
	   the row there of the batch's row M. */
	size_t shares;
	void (*share)(hu_contract *x, size_t i);
	size_t (*place)(const hu_contract *share, size_t m);
	size_t (*owner)(const hu_contract *whole, size_t m, size_t *share);
	/* A share's pixels (their first row and column, how many of each) and its taps (how many, the first, the steps
	   from one to the next). */
	size_t row0, col0, rows, cols, taps_h, taps_w, tap_h0, tap_w0, step_h, step_w;
	double (*unread)(const hu_contract *c);             /* elements of A's tensor in no row; NULL: none */
};

/* Fills sizes, geometry and index map from the call's attributes and input shapes. */
typedef void hu_contract_map(hu_contract *c, const hu_call *call, const hu_shape *in);

/* What a contraction's row says of itself: the rest is hu_family_contract's. SHAPE need not look at scales. */
typedef struct hu_contract_own {
	hu_contract_map *map;
	hu_status (*shape)(const hu_call *c, const hu_shape *in, hu_shape *out);
} hu_contract_own;
extern const hu_columns hu_family_contract;

/* The columns that are in files of their own. */
hu_status hu_contract_emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);
hu_status hu_contract_some(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, double *value, hu_swamp *count);
hu_status hu_contract_reference(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);
hu_status hu_contract_bound(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *bound);
hu_status hu_contract_magnitude(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *magnitude);
hu_status hu_contract_enclose(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink);
hu_status hu_contract_swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, hu_swamp *count);
void hu_contract_cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost);
/* Bytes that the emulation may allocate beyond its tensors, from the shapes: its operands in the order of its sums, and
   each thread's own. */
double hu_contract_workspace(const hu_call *c, const hu_shape *in, int threads);
/* Coefficient of Σ|ab| in the a-priori bound, the output's rounding included, from the shapes. */
double hu_contract_unit_bound(const hu_call *c, const hu_shape *in);
hu_roundings hu_contract_roundings(const hu_call *c, hu_tensor *const *in, int out);

/* Every value of A is one of B. */
int hu_contract_holds(hu_format b, hu_format a);
/* The bound of a settled tensor-core call's sum of the operands of one output, all of it absolute. */
hu_sum_bound hu_contract_tc_bound(const hu_contract *x, const hu_call *c, size_t element, size_t part);

/* Doubles of B that all tiles of a judge share, 2^24 where memory is plenty; of more each tile packs its own. */
size_t hu_contract_shared(void);
/* Sizes, geometry and maps of the call, with nothing left 0. */
void hu_contract_describe(hu_contract *x, const hu_call *c, const hu_shape *in);
/* How many products the call is, and the I-th of them: shares of the first batch, of the second, … */
size_t hu_contract_products(const hu_contract *whole);
hu_contract hu_contract_product(const hu_contract *whole, size_t i);
/* The output's element of (m, 0) of a product. */
size_t hu_contract_at(const hu_contract *x, size_t m);
/* The row of the output's element E among its batch's, which *BATCH gets; its column is *N. */
size_t hu_contract_row_of(const hu_contract *whole, size_t e, size_t *batch, size_t *n);
/* The product that the output's element E is of, to ONE, and its row there; its column is *N. */
size_t hu_contract_find(const hu_contract *whole, size_t e, hu_contract *one, size_t *n);
/* The geometry of a convolution's call: strides, dilations, padding, groups (the batches); then its channels, which
   groups divide. HU_EINVAL where the kernel or the groups do not fit. */
hu_status hu_conv_of(hu_contract *x, const hu_call *c, size_t h, size_t w, size_t kh, size_t kw);
hu_status hu_conv_groups(hu_contract *x, const hu_call *c, size_t channels, size_t filters);
/* Of an image: elements that no window covers. */
double hu_conv_unread(const hu_contract *x);
/* Elements K0 .. K1-1 of row M of A as doubles. */
void hu_contract_stretch(const hu_contract *c, size_t m, size_t k0, size_t k1, double *a);
/* Row M of A and column N of B as doubles: K values each. */
void hu_contract_row(const hu_contract *c, size_t m, double *a);
void hu_contract_column(const hu_contract *c, size_t n, double *b);
void hu_contract_gather(const hu_contract *c, size_t m, size_t n, double *a, double *b);
/* The call with its summation model resolved from the operands' formats; it owns nothing. */
hu_status hu_contract_settle(hu_call *settled, const hu_call *c, hu_tensor *const *in);
/* Describes the call with tensors and scale in place. */
void hu_contract_open(hu_contract *x, const hu_call *c, hu_tensor *const *in);

/* Rounds N results, divided by SCALE, to the output's format: elements FIRST .. of Y. */
void hu_contract_store(
	const hu_call *c, hu_tensor *y, size_t first, size_t n, const double *v, double scale, const hu_env *env);
/* The same of fp32 accumulators V, which it overwrites. */
void hu_contract_finish(
	const hu_contract *x, const hu_call *c, hu_tensor *y, size_t first, size_t n, float *v, const hu_env *env);
/* The emulation of a call whose sums are a tensor core's that hu_tc_plan_of knows: the plain version's bits. */
hu_status hu_contract_tc(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env);

/* The emulation of a settled call by lib/sum/lanes.h, and whether that knows it: the plain version's bits. */
int hu_contract_has_lanes(const hu_contract *x, const hu_call *c);
hu_status hu_contract_lanes(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env);

/* SAME padding (TensorFlow's): output size, and what lies before the first element. */
size_t hu_same(size_t n, size_t k, size_t stride, ptrdiff_t *before);
#endif
