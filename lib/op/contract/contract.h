/* SPDX-License-Identifier: Apache-2.0
   What matmul and the convolutions have in common: y[m,n] = Σ_k A[m,k] B[k,n], where A and B are read in place through
   an index map (implicit GEMM: an image is never copied into an unrolled matrix). A call may consist of several such
   products: one per batch (the leading dimensions of a matmul, a group of a convolution's channels), and within a batch
   one per share of the output's rows if their sums run over different terms (a strided convolution's data gradient).
   The products have nothing in common but their tensors. Each such operator supplies its index map, shape rule and
   gradient rule; everything that computes and judges is in hu_family_contract. */
#ifndef HU_OP_CONTRACT_H
#define HU_OP_CONTRACT_H

#include "lib/op/op.h"
#include "lib/op/region.h"
#include "lib/sum/bound.h"
#include "lib/sum/vector/panel.h"

typedef struct hu_contract hu_contract;

/* A stretch of row m of A: elements k .. k+length-1 are at offset, offset + stride, … of tensor a. At HU_TAP_OUTSIDE
   they are +0, because this tap of the kernel is outside the image. */
typedef struct hu_stretch { ptrdiff_t offset; size_t stride, length; } hu_stretch;
enum { HU_TAP_OUTSIDE = -1 };

/* What a row, or a term, of a convolution has to do with where its element lies: row and column of the image, and the
   offset. An element is at the sum of both. A term has `terms` more terms after it, itself included, of which the map
   says how they go on (hu_contract.step). */
typedef struct hu_spot { ptrdiff_t y, x, offset; size_t terms; } hu_spot;

struct hu_contract {
	/* Sizes of one product. For the description of the whole call: rows and columns of one batch, and the largest
	   number of terms in any of its sums. */
	size_t m, n, k;
	/* Output (m, n) of batch i is element i * batch_step + m * row_step + n; the larger of the two steps spans the
	   smaller. row(), column() and place() refer to batch number batch. If there is one batch, hu_contract_describe
	   sets the steps so that its rows are contiguous. */
	size_t batches, batch, batch_step, row_step;
	size_t terms;                                       /* term k of output e draws random bits e * terms + k */
	const hu_tensor *a, *b;
	hu_stretch (*row)(const hu_contract *c, size_t m, size_t k);
	size_t (*column)(const hu_contract *c, size_t k);   /* offset of B[k,0] in b */
	size_t column_stride;                               /* from B[k,n] to B[k,n+1] */
	/* NULL, or row() in two halves: those of rows m .. m+rows-1 and that of term k. An element whose sums of rows
	   and columns do not lie within high x wide is +0. From one term to the next the column grows by step and the
	   offset by stride. */
	void (*spots)(const hu_contract *c, size_t m, size_t rows, hu_spot *s);
	hu_spot (*term)(const hu_contract *c, size_t k);
	size_t high, wide, step, stride;
	/* Geometry of a convolution: number of images, their extents, kernel, outputs, strides, dilations, padding
	   before the image; channels of a group (ci, co) and of the whole image (cin, cout). */
	size_t images, h, w, ci, kh, kw, ho, wo, co, sh, sw, dh, dw, cin, cout;
	ptrdiff_t pad_h, pad_w;
	double scale;                                       /* the result is divided by it; a power of two */
	/* The number of shares of a batch's rows; if it is 1 the functions are not called. share() turns a batch's
	   description into that of its share i. place() maps row m of a share to the batch's row, and owner() maps row
	   m of the batch to its share and the row within it. */
	size_t shares;
	void (*share)(hu_contract *x, size_t i);
	size_t (*place)(const hu_contract *share, size_t m);
	size_t (*owner)(const hu_contract *whole, size_t m, size_t *share);
	/* A share's pixels (the first row and column, how many of each) and its taps (how many, the first, and the
	   steps from one to the next). */
	size_t row0, col0, rows, cols, taps_h, taps_w, tap_h0, tap_w0, step_h, step_w;
	double (*unread)(const hu_contract *c);             /* elements of A's tensor that no row reads; NULL: none */
};

/* Fills in sizes, geometry and index map from the call's attributes and input shapes; HU_EINVAL where they do not fit,
   which the operator's shape rule finds first. */
typedef hu_status hu_contract_map(hu_contract *c, const hu_call *call, const hu_shape *in);

/* What a contraction's row supplies; the rest is in hu_family_contract. shape need not look at scales. whole, which may
   be NULL, emulates the whole settled call c with the bits of its products in parts of `part` terms, and sets *st, or
   returns 0 where it cannot. certified, which may be NULL, gives sink the whole call's values where operands are
   certified, or returns 0 where it cannot. */
typedef struct hu_contract_own {
	hu_contract_map *map;
	hu_status (*shape)(const hu_call *c, const hu_shape *in, hu_shape *out);
	int (*whole)(
		const hu_contract *x, const hu_call *c, size_t part, hu_tensor *y, const hu_env *env, hu_status *st);
	int (*certified)(const hu_contract *x, hu_sink *sink);
} hu_contract_own;
extern const hu_columns hu_family_contract;

/* The columns that have files of their own. */
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
   each thread's own buffers. */
double hu_contract_workspace(const hu_call *c, const hu_shape *in, int threads);
/* The coefficient of Σ|ab| in the a-priori bound, the output's rounding included, from the shapes. */
double hu_contract_unit_bound(const hu_call *c, const hu_shape *in);
hu_roundings hu_contract_roundings(const hu_call *c, hu_tensor *const *in, int out);

/* Returns 1 if every value of format a is one of format b. */
int hu_contract_holds(hu_format b, hu_format a);
/* Returns 1 where the bound of a sum depends on its operands, as that of a processor's unit does. */
int hu_contract_has_own_bound(const hu_call *c);
/* The bound on such a sum for one output, from its operands, as an absolute error. The call must be settled. */
hu_sum_bound hu_contract_own_bound(const hu_contract *x, const hu_call *c, size_t element, size_t part);

/* How many doubles of B all tiles of a judged call may share; 2^24 if memory is plentiful. If B is larger, each tile
   packs its own part. */
size_t hu_contract_shared(void);
/* Sets sizes, geometry and maps of the call. There is at least one batch and one share, even if the map sets none. */
void hu_contract_describe(hu_contract *x, const hu_call *c, const hu_shape *in);
/* The number of products in the call, and product i of them: first the shares of the first batch, then of the second,
   and so on. */
size_t hu_contract_products(const hu_contract *whole);
hu_contract hu_contract_product(const hu_contract *whole, size_t i);
/* The index in the output of element (m, 0) of a product. */
size_t hu_contract_at(const hu_contract *x, size_t m);
/* Returns the number of tiles into which the outputs of a call are cut by rows where each is to have at least so many
   multiply-adds, and at least `least` rows; *step gets the elements of one, the last of which may have fewer. 1 where c
   is no contraction. A function of its arguments alone. Each tile packs all of B: beside HU_CONTRACT_ROWS rows that
   costs a few hundredths where sums are short, and as much as the products where they have thousands of terms. */
enum { HU_CONTRACT_ROWS = 48 };
int hu_contract_cut(const hu_call *c, const hu_shape *in, double macs, size_t least, size_t *step);

/* A call's outputs in tiles of rows and columns: each has `step` elements of whole rows, whose length is `row`, and of
   these the elements of `columns` columns. The last ones have fewer. k is the number of terms of a sum. */
typedef struct hu_contract_tiles { size_t all, step, row, columns, k; } hu_contract_tiles;
/* Cuts the call so that a tile of r rows and c columns has about r c k <= macs multiply-adds, where packing the rows of
   A and columns of B that it reads takes as long as `pack` multiply-adds an element: about as many rows as columns
   where sums are long, whole rows where there are several products or that packs little. Returns the number of tiles;
   1 where c is no contraction, or is not cut. */
int hu_contract_tile(hu_contract_tiles *t, const hu_call *c, const hu_shape *in, double macs, double pack);
hu_region hu_contract_region(const hu_contract_tiles *t, int i);
/* Returns the row within its batch of output element e; *batch gets the batch, *n the column. */
size_t hu_contract_row_of(const hu_contract *whole, size_t e, size_t *batch, size_t *n);
/* Sets *one to the product that output element e belongs to and returns its row there; *n gets the column. */
size_t hu_contract_find(const hu_contract *whole, size_t e, hu_contract *one, size_t *n);
/* Sets the geometry of a convolution from the call: strides, dilations, padding and groups (the batches);
   hu_conv_groups then divides the channels by the groups. HU_EINVAL if the kernel or the groups do not fit. */
hu_status hu_conv_of(hu_contract *x, const hu_call *c, size_t h, size_t w, size_t kh, size_t kw);
hu_status hu_conv_groups(hu_contract *x, const hu_call *c, size_t channels, size_t filters);
/* Sets what the convolution and its gradient for the kernel have in common, once channels are divided: a column is a
   filter, the last index of B and of the output, and the images are A's. */
void hu_conv_filters(hu_contract *x, size_t images);
/* The number of elements of an image that no window covers. */
double hu_conv_unread(const hu_contract *x);
/* Copies elements k0 .. k1-1 of row m of A as doubles. */
void hu_contract_stretch(const hu_contract *c, size_t m, size_t k0, size_t k1, double *a);
/* Copies term k of columns n0 .. n0+count-1 of B as doubles. */
void hu_contract_slab(const hu_contract *c, size_t k, size_t n0, size_t count, double *b);
/* Copies row m of A, or column n of B, or both, as doubles: k values each. */
void hu_contract_row(const hu_contract *c, size_t m, double *a);
void hu_contract_column(const hu_contract *c, size_t n, double *b);
void hu_contract_gather(const hu_contract *c, size_t m, size_t n, double *a, double *b);
/* Sets *settled to the call with its summation model resolved from the operands' formats. It owns nothing. */
hu_status hu_contract_settle(hu_call *settled, const hu_call *c, hu_tensor *const *in);
/* Describes the call including its tensors and scale. */
void hu_contract_open(hu_contract *x, const hu_call *c, hu_tensor *const *in);

/* Rounds n results, divided by scale, to the output's format and stores them as elements first .. of y. */
void hu_contract_store(
	const hu_call *c, hu_tensor *y, size_t first, size_t n, const double *v, double scale, const hu_env *env);
/* The same for fp32 accumulators v, which it overwrites. */
void hu_contract_finish(
	const hu_contract *x, const hu_call *c, hu_tensor *y, size_t first, size_t n, float *v, const hu_env *env);
/* Whether a settled call's sums are those of a tensor core that hu_tc_plan_of knows, with no promotion that ends inside
   of its parts; and its emulation that way. The bits are those of the plain version. */
int hu_contract_has_tc(const hu_contract *x, const hu_call *c, size_t part);
hu_status hu_contract_tc(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env);

/* Whether lib/sum/vector/lanes.h supports a settled call, and its emulation that way. The bits are those of the plain
   version. */
int hu_contract_has_lanes(const hu_contract *x, const hu_call *c);
hu_status hu_contract_lanes(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env);

/* Whether many sums of a settled call, which open describes, can be counted at once, and their counts: listed outputs
   are counted where their operands are finite; left, of n, gets the others. Returns how many these are. */
int hu_contract_has_counted(const hu_contract *x, const hu_call *c);
size_t hu_contract_counted(
	const hu_contract *x, size_t part, const size_t *element, size_t n, hu_swamp *count, size_t *left);

/* The most terms that hu_contract_pack_rows packs at once. */
enum { HU_PACK_TERMS = 256 };

/* Packs terms k0 .. k0+kc-1 of rows m0 .. m0+rows-1 of A, kernel->mr of them interleaved: to[k * mr + i] is row i's
   term k0 + k, and +0 for taps outside an image and for rows past the last. rows is at least 1 and may exceed mr; kc
   is at most HU_PACK_TERMS. A's tensor must hold floats. */
void hu_contract_pack_rows(const hu_contract *x, const hu_panel *kernel, size_t m0, size_t rows, size_t k0, size_t kc,
	float *to);
/* Packs columns n0 .. n0+nr32-1 of B over all k, nr32 of them interleaved, with +0 past the last column. B's tensor
   must hold floats. */
void hu_contract_pack_columns(const hu_contract *x, const hu_panel *kernel, size_t n0, float *to);

/* TensorFlow's SAME padding: returns the output size; *before gets the padding before the first element. */
size_t hu_same(size_t n, size_t k, size_t stride, ptrdiff_t *before);
#endif
