/* SPDX-License-Identifier: Apache-2.0
   What the files of this folder share: the import under way, values of the graph, and the calls that nodes become.
   A function that makes a tensor returns its id, or -1 after a failure, which is kept; given -1 it does nothing and
   returns -1. So a node's code runs straight on, and the import looks at the failure once, after it. */
#ifndef HU_IMPORT_IMPORTING_H
#define HU_IMPORT_IMPORTING_H

#include "lib/import/import.h"

typedef struct hu_importing hu_importing;

/* What an import for one input knows of it: fill is set where all is computed at once, and `to` then gets what was
   asked for; else `from` has that. port: the values asked for so far. */
typedef struct hu_asking {
	void (*fill)(void *of, const char *input, hu_tensor *t);
	void *of;
	hu_answers *to;
	const hu_answers *from;
	hu_port *port;
	size_t n, cap;
	int stopped;
} hu_asking;

/* A value of the graph and its ONNX shape. It is held in one order of elements or in both: plain is the tensor with
   ONNX's order, last the one whose channels (axis 1) come last; -1 where there is none yet. */
typedef struct hu_value {
	const char *name;
	int type, rank;
	size_t d[HU_RANK], n;
	int plain, last;
	/* Of a run by ONNX Runtime's CPU: its elements were not rounded to its type yet, whose format `half` has them;
	   a Cast of the file made it. */
	int raw, is_cast;
	struct hu_value *half,
		*wider_of;              /* wider_of: the narrow value that a Cast of the file made wider as this one */
	const struct hu_sequence *list; /* of a sequence of tensors, which is none itself */
} hu_value;

/* A sequence of tensors, whose length and order are known. All of an import are in one list. */
typedef struct hu_sequence {
	struct hu_sequence *next;
	size_t n;
	hu_value v[];
} hu_sequence;

/* The names that nodes of one graph see: its own and, in a graph inside a node, those around it. */
typedef struct hu_scope {
	const struct hu_scope *outer;
	const hu_onnx_node *caller; /* of a function's body: the node that calls it */
	hu_value **value;
	size_t n, cap;
	size_t *slot, slots; /* a hash table of indices + 1 into value */
	char *prefix;        /* of the layers' names */
} hu_scope;

struct hu_importing {
	const hu_onnx *m;
	hu_program *p;
	hu_status st;
	hu_scope *scope;
	/* The node at hand, perhaps rewritten by its code, and as the graph has it; its layer, and how many calls it
	   has become. */
	const hu_onnx_node *node, *own;
	char layer[96];
	json_t *layers; /* every tensor's layer up to number `named`, with the number that a namesake tries next */
	int named;
	json_t *namesakes; /* by the name of a tensor that others would have: the number that the next one tries */
	int calls, depth, unfolded; /* unfolded: the next call stays one though its operands are constants */
	int64_t version;
	char *chooses; /* the first If or Loop that chooses by what the model computes */
	const hu_given *given;
	size_t ngiven;
	hu_typing typing;
	/* Of a product of codes that saturates: the left one's zero point as a tensor's id + 1, else 0, and the right
	   one's. */
	int pairs;
	double pairs_zero;
	const hu_onnx_graph *graph; /* that the node at hand stands in */
	hu_sequence *sequences;
	char *asked; /* by attribute of `own`: whether its code has looked at it */
	int narrow;  /* it has met float16 or bfloat16 */
	size_t grown;        /* elements of constants that are larger than what they were computed from */
	double held, shaped; /* bytes of constants of the input at hand, and of calls and sequences */
	hu_asking *asking; /* NULL: the model is one program, whatever its inputs are */
	char *varies;      /* by tensor id: a constant that depends on the input */
	size_t nvaries;
	char *half;  /* by tensor id: a constant that the file has in 16 bits */
	size_t nhalf;
	hu_tensor *constant;       /* by tensor id */
	const hu_onnx_node **made; /* by call */
	size_t nconstant, nmade, constantcap, madecap;
	hu_attr attr[HU_MAX_ATTR]; /* of the next call */
	int nattr;
};

/* operators.c: the row of operators.def for NODE: its code; NULL where it is not known. */
typedef void hu_node_import(hu_importing *c);
hu_node_import *hu_import_of(const hu_onnx *m, const hu_onnx_node *node);
#define OPERATOR(name, since, arithmetic, code) hu_node_import hu_node_##code;
#include "lib/import/operators.def"
#undef OPERATOR
/* The version of the operators from which on the node's operator is known, where the model's is older; else 0. */
int64_t hu_operators_since(const hu_onnx *m, const hu_onnx_node *node);
/* The arithmetic of the row whose code runs, whatever the model's version: a node may be made of others of later ones.
 */
const char *hu_operators_arithmetic(const hu_onnx_node *node);

/* Keeps the failure, the node's name before the reason; the first one wins. Returns -1. */
int hu_import_fail(hu_importing *c, hu_status st, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* known.c. HU_EUNABLE names every operator that is not known, with its nodes; HU_EINVAL a size that nothing in the
   model asks for, which is a typing error. */
hu_status hu_import_all_known(const hu_onnx *m);
hu_status hu_import_all_asked(const hu_onnx *m, const hu_given *given, size_t n);

/* value.c. Input and output i of the node: NULL where an input was left out. An output must be made once; its tensors
   are -1 then. */
hu_value *hu_import_in(hu_importing *c, size_t i);
hu_value *hu_import_out(hu_importing *c, size_t i, int type, int rank, const size_t *d);
hu_value *hu_import_find(hu_importing *c, const char *name);
/* 1 where NAME is no value of the graph at hand, but of one around it. */
int hu_import_is_outer(const hu_importing *c, const char *name);
void hu_import_scope_release(hu_scope *s);
hu_value *hu_import_value(hu_importing *c, hu_scope *s, const char *name, int type, int rank, const size_t *d);
/* Makes output i the same value as V, perhaps with another shape of as many elements. */
void hu_import_same(hu_importing *c, size_t i, const hu_value *v, int rank, const size_t *d);
/* Makes output i V itself, in whichever orders that is held; it may have no elements. */
void hu_import_put(hu_importing *c, size_t i, const hu_value *v);
/* Makes output i a value of shape D, which has no elements. */
void hu_import_put_empty(hu_importing *c, size_t i, int type, int rank, const size_t *d);
/* The tensor of V in either order. */
int hu_import_plain(hu_importing *c, hu_value *v);
int hu_import_last(hu_importing *c, hu_value *v);
/* 1 where V's cheaper order is the one with channels last. */
int hu_import_is_last(const hu_value *v);
/* V's shape with axis 1 last. */
hu_shape hu_import_shape_last(const hu_value *v);
hu_shape hu_import_shape(int rank, const size_t *d);
/* The node's attribute; in a function's body the one of the call that it stands for. NULL: absent. */
const hu_onnx_attr *hu_import_attr(hu_importing *c, const char *name);
/* These fail where a truth value of flags.def is neither 0 nor 1, or a text is none of its words of
   words.def. */
int64_t hu_import_int(hu_importing *c, const char *name, int64_t otherwise);
double hu_import_real(hu_importing *c, const char *name, double otherwise);
const char *hu_import_text(hu_importing *c, const char *name, const char *otherwise);
/* Fails where the node at hand has an attribute that its code has not looked at, and that is none of unread.def. */
void hu_import_all_read(hu_importing *c);
/* types.c. The format that holds elements of ONNX's type here. HU_NO_FORMAT: texts and complex numbers. */
hu_format_id hu_import_format(hu_importing *c, int type);
/* Says that the file has constant ID in 16 bits; and whether it has. */
void hu_import_mark_half(hu_importing *c, int id);
int hu_import_is_half(const hu_importing *c, int id);
/* The values of a constant as doubles (n of them, freed by the caller), NULL and a failure where V is none. */
double *hu_import_constant(hu_importing *c, hu_value *v);
int hu_import_is_constant(hu_importing *c, const hu_value *v);
/* The node's list of whole numbers: attribute NAME, or where ONNX has it as an input, constant input I. *n gets their
   number; -1 where it is absent. At most MOST of them. The limits of 64 bits are kept as doubles. */
int hu_import_list(hu_importing *c, const char *name, size_t i, double *list, int most);

/* typing.c. Rounds the outputs of the node at hand, of arithmetic ARITHMETIC, to their types where c->typing says so.
   V as the model gives it out. Tensor T rounded to ONNX's type where that is narrow. */
void hu_typing_outputs(hu_importing *c, const char *arithmetic);
/* 1 where ONNX Runtime's CPU runs the node at hand in float16 itself. */
int hu_typing_runs_narrow(hu_importing *c);
hu_value *hu_typing_given(hu_importing *c, hu_value *v);
int hu_typing_round(hu_importing *c, int t, int type);

/* pairs16.c. Says how the next products of codes A and B with zero points ZA and ZB, NULL where there are none, add
   up: c->pairs is set where terms saturate by pairs, else 0. */
void hu_import_pairs(hu_importing *c, hu_value *a, hu_value *za, const hu_value *b, hu_value *zb);
/* 1 where the model runs so and products with codes B of zero point ZB have pairs that saturate. */
int hu_import_pairs_with(hu_importing *c, const hu_value *b, hu_value *zb);
/* OP, matmul or conv2d, of A and B, as c->pairs has it. */
int hu_import_product(hu_importing *c, const char *op, int a, int b);

/* layer.c. Sets the layer of the node at hand, or of input NAME, after its name; two nodes of one name are told
   apart. */
void hu_import_name_layer(hu_importing *c, const char *name);

/* ports.c. The inputs of G, but for those that are constants, and its outputs, as tensors and as ports of M. */
void hu_import_inputs(hu_importing *c, hu_imported *m, const hu_onnx_graph *g);
void hu_import_outputs(hu_importing *c, hu_imported *m, const hu_onnx_graph *g);

/* named.c. Lists the values of the main graph, whose scope is at hand, in M. */
void hu_import_named(hu_importing *c, hu_imported *m);

/* import.c. The nodes of G, a graph inside the node or a function's body, which sees names around it unless it is a
   function: its first inputs are IN (NULL: absent), and out[i] gets the value of its output i. */
void hu_import_body(hu_importing *c, const hu_onnx_graph *g, hu_value *const *in, size_t nin, hu_value *out,
	size_t nout, int is_function);

/* found_node/answers.c. The elements of V, which is tensor T and no constant, of the one input that the import is for.
   The caller frees them. */
double *hu_answers_value(hu_importing *c, const hu_value *v, int t);
/* Moves the values asked for behind M's outputs. */
void hu_answers_outputs(hu_importing *c, hu_imported *m);

/* found_node/asking.c. Says that constant ID depends on the input; and whether it does. */
void hu_asking_mark(hu_importing *c, int id);
int hu_asking_varies(const hu_importing *c, int id);
void hu_asking_release(hu_asking *ask);

/* choose.c. Says that the node chooses by what the model computes. The value of YES where the truth value IF_ is one,
   else of NO, both computed; a failure where they have not one shape. */
void hu_import_chooses(hu_importing *c);
hu_value hu_import_either(hu_importing *c, hu_value *if_, hu_value *yes, hu_value *no);

/* empty.c. Makes the outputs of a node that reads a value without elements, where the operator makes another of it or
   zeros. Returns 1 if it has. */
int hu_import_empty(hu_importing *c);

/* Elements that computed constants may have: a gigabyte of doubles. */
enum { HU_IMPORT_COMPUTED = 1 << 27, HU_IMPORT_FOLDED = 4096 };
/* constant.c. Room for N numbers, freed by the caller; NULL and a failure where no model of sense has so many. */
double *hu_import_room(hu_importing *c, size_t n);
/* ONNX's element type as safetensors calls it. */
const char *hu_import_dtype(int type);
/* A tensor of shape S, which has no elements. */
int hu_import_nothing(hu_importing *c, hu_format_id f, hu_shape s);
/* A tensor without a call that holds the given values; data is taken over. */
int hu_import_number(hu_importing *c, int type, double x);
int hu_import_numbers(hu_importing *c, int type, int rank, const size_t *d, const double *x);
/* A matrix of ROWS x COLUMNS that mixes elements, such as sums or interpolations do; no policy changes its format. */
int hu_import_matrix(hu_importing *c, int type, size_t rows, size_t columns, const double *x);
int hu_import_stored(hu_importing *c, const char *name, const hu_stensor *t);

/* emit.c. Adds BYTES to what calls and sequences take, of which a few bytes may ask for any number: a sixteenth of the
   memory is theirs. Returns -1 and a failure where that is not enough, else 0. */
int hu_import_shaped(hu_importing *c, double bytes);
/* A new tensor: of the node at hand, or a constant called NAME, whose data are zeros. */
int hu_import_tensor(hu_importing *c, const char *name, hu_format_id f, hu_shape s, hu_tclass cls, int constant);
/* Sets an attribute of the next call. */
void hu_import_set(hu_importing *c, const char *key, double x);
void hu_import_set_text(hu_importing *c, const char *key, const char *text);
/* Appends a call whose first output has format F (HU_NO_FORMAT: that of input 0). Where all inputs are constants it is
   computed instead, unless its result has many more elements than they. */
int hu_import_call(hu_importing *c, const char *op, hu_format_id f, const int *in, int nin);
int hu_import_call1(hu_importing *c, const char *op, int a);
int hu_import_call2(hu_importing *c, const char *op, int a, int b);
/* The tensor's elements in the same order as another shape. */
int hu_import_flat(hu_importing *c, int a, hu_shape s);
/* An index map: output axis j runs over input axis from[j] (-1: none, it repeats) from start[j] on in steps. */
typedef struct hu_axes {
	hu_shape s;
	int from[HU_RANK];
	double start[HU_RANK], step[HU_RANK], fill;
} hu_axes;
hu_axes hu_axes_same(hu_shape s);
int hu_import_move(hu_importing *c, int a, const hu_axes *x);
/* The tensor repeated to shape S, by ONNX's rule: axes are compared from the last one on. */
int hu_import_expand(hu_importing *c, int a, hu_shape s);
/* The same for an operand, but not the first, of an operator on elements, which reads one number for all of them. */
int hu_import_every(hu_importing *c, int a, hu_shape s);
/* Elements i of axis AXIS from `from` on, N of them. */
int hu_import_part(hu_importing *c, int a, int axis, size_t from, size_t n);
/* Drops what no output needs. */
void hu_import_prune(hu_importing *c, hu_imported *m);

/* A window over the one to three axes behind channels: of convolutions and pools. */
typedef struct hu_window {
	int n;
	size_t kernel[3], stride[3], dilation[3], before[3], after[3], out[3];
} hu_window;
/* window.c. The node's window of KERNEL elements over V; 0, or -1 where it does not fit. */
int hu_import_window(hu_importing *c, hu_window *w, const hu_value *v, const size_t *kernel);
/* -1 and a failure where the node says another kernel_shape than KERNEL, of N axes, which its weights have. */
int hu_import_kernel_shape(hu_importing *c, const size_t *kernel, int n);
/* -1 and a failure where the node has both pads and auto_pad. */
int hu_import_pads_fit(hu_importing *c);
void hu_import_window_set(hu_importing *c, const hu_window *w); /* as attributes of the next call */
int hu_import_image(hu_importing *c, hu_value *v);              /* V as N x H x W x C */
/* node/volume.c. Of volumes: the products, with channels last, and the pools, of which D gets ONNX's shape. */
int hu_volume_conv(hu_importing *c, hu_value *v, hu_value *w, const hu_window *win, size_t groups);
/* The transposed one, whose output has WIN->out elements along each axis. */
int hu_volume_transposed(hu_importing *c, hu_value *v, hu_value *w, const hu_window *win, size_t groups);
int hu_volume_pool(hu_importing *c, const char *op, hu_value *v, const hu_window *win, size_t *d);
/* operand.c. V repeated to the shape of ALL, with channels last or not. */
int hu_import_operand(hu_importing *c, hu_value *v, const hu_value *all, int last);
/* The same as an operand, but not the first, of an operator on elements (hu_import_every). */
int hu_import_operand_behind(hu_importing *c, hu_value *v, const hu_value *all, int last);
/* Number X of TYPE in the shape of tensor A; and as such an operand beside A. */
int hu_import_like(hu_importing *c, int a, int type, double x);
int hu_import_beside(hu_importing *c, int a, int type, double x);
/* OP of A and number X: of TYPE, or where A has doubles a whole number. */
int hu_import_by(hu_importing *c, const char *op, int a, int type, double x);
/* OP of A and B (-1: of A alone), whose results are truth values. */
int hu_import_truth(hu_importing *c, const char *op, int a, int b);

/* node/index.c. Places along an axis of N elements, negative ones counted from its end, in doubles. */
int hu_index_places(hu_importing *c, int t, size_t n);

/* node/scatter_computed.c. The scatters whose indices the model computes. */
void hu_scatter_elements_computed(hu_importing *c, hu_value *v, hu_value *at, hu_value *u, int axis);
void hu_scatter_nd_computed(hu_importing *c, hu_value *v, hu_value *at, hu_value *u);
/* The operator that joins an update to what was there, NULL where it takes its place; *none leaves
   everything as it is. */
const char *hu_scatter_reduction(hu_importing *c, double *none);

/* grid_node/grid.c. Samples of images or volumes: pixels has a row of channels for each pixel, first for each of the
   samples the number of its image's first pixel, in doubles; valid which samples are not 0 (-1: all). zeros: pixels
   outside are 0, else the nearest ones. */
enum { HU_GRID_AXES = 3 };
typedef struct hu_grid_sampling {
	hu_importing *c;
	int type, pixels, first, valid;
	size_t samples, channels, size[HU_GRID_AXES]; /* size: of width, height and, with three axes, depth */
	int axes, zeros;
} hu_grid_sampling;
/* The pixels at AT, whole numbers, an axis each as in `size`, times WEIGHT, in rows of channels. */
int hu_grid_pixels(const hu_grid_sampling *g, const int *at, int weight);
/* The four or eight pixels around each AT times their weights, joined by operator JOIN. */
int hu_grid_linear(const hu_grid_sampling *g, const int *at, const char *join);

/* ort/: float32 with the bits of ONNX Runtime's CPU, where c->m->ort says that it runs the model. product.c: T, the
   product just made of ROWS x TERMS by TERMS x COLUMNS as it has it, then adds its terms in its order. Returns T. */
int hu_ort_product(hu_importing *c, int t, size_t rows, size_t columns, size_t terms);
/* ort/conv.c. Sets the order of the terms of a convolution of V by W, of so many groups, for the call that is made
   next; and what T, that call's result, adds up by. Returns T. */
void hu_ort_conv_order(hu_importing *c, const hu_value *v, const hu_value *w, const hu_window *win, size_t groups);
int hu_ort_conv(hu_importing *c, int t, const hu_value *w, const hu_window *win, size_t groups);
/* ort/function.c. The operator that computes OP of numbers of TYPE, OP itself where it has no function of its own. And
   the softmax of rows T of N. */
const char *hu_ort_function(const hu_importing *c, const char *op, int type);
int hu_ort_softmax(hu_importing *c, int t, size_t n);
/* ort/lanes.c. The sum over axis 1 of T, of three axes, which has LANES terms or more: as the head of that file says,
   with HALVES half a register of further terms at once first. REST holds what fills no register. And the mean over axis
   1 that a pool has; and whether that can be said of N terms of TYPE. */
int hu_ort_lanes(hu_importing *c, int t, int rest, size_t lanes, int halves);
/* The sum over axis 1 of T, of three axes whose last is 1: lanes of a register, by neighbours. */
int hu_ort_neighbours(hu_importing *c, int t, size_t lanes);
int hu_ort_pool_mean(hu_importing *c, int t, int type);
int hu_ort_pools(const hu_importing *c, int type, size_t n);
/* The sums of ReduceSum and ReduceMean over N terms, of which T has OUTER x N x INNER; and whether they are known. */
int hu_ort_sum(hu_importing *c, int t, size_t outer, size_t n, size_t inner);
int hu_ort_sums(const hu_importing *c, int type, size_t outer, size_t n, size_t inner);
/* ort/norm.c. Rows X of N elements, eight or more, each less its mean and over its deviation, times SCALE plus BIAS
   (-1: 0). And IN, channels last, times scale plus bias, less mean and over deviation, the further of IN. */
int hu_ort_layernorm(hu_importing *c, int x, int type, size_t n, double eps, int scale, int bias);
int hu_ort_batchnorm(hu_importing *c, const int *in, int type, double eps);

/* node/attention_bias.c. What Attention adds to its scores of shape S, which PAST keys come before (-1: nothing);
   *empty says which rows may attend no key, -1 where that cannot be. And the softmax of scores T with that bias, 0 in
   such rows. */
int hu_attention_bias(hu_importing *c, int type, hu_shape s, size_t past, int *empty);
int hu_attention_softmax(hu_importing *c, int type, int t, int bias, int empty);

/* signal_node/fourier.c. A matrix of N x M: FACTOR times the cosine or sine of 2 pi i j / N. And tensors A and B side
   by side, as the real and imaginary parts of complex numbers are. */
int hu_fourier_waves(hu_importing *c, int type, size_t n, size_t m, int sine, double factor);
/* A product with such a matrix. Kernels compute it by fast transforms, whose bound is another one: `transform`. */
int hu_fourier_times(hu_importing *c, int x, int waves);
int hu_fourier_pair(hu_importing *c, int a, int b);

/* node/quantise.c. Tensor T, which is float32, as unsigned bytes whose scale and zero point are its own ends', 0 among
   them; and the product of T, of which each row has K elements, with the K x N whole numbers CODES in doubles, times
   its own scale and SCALE, one number a column. PAIRS: terms saturate by pairs (hu_import_pairs_with). */
int hu_quantise_dynamic(hu_importing *c, int t, int *scale, int *zero);
/* Quotient T as codes of TYPE, in T's format: rounded to nearest, ties to even, moved by the zero point (-1: none),
   kept within the type. ONNX does not say which code NaN has; onnxruntime gives the least one, in every type and at
   every place. */
int hu_quantise_codes(hu_importing *c, int t, int zero, int type);
int hu_quantise_dynamic_product(hu_importing *c, int t, int codes, int scale, int pairs);
/* Whole numbers V less zero points, one for each of its first axis, or of its first and last (NULL: 0), in doubles. */
int hu_quantise_centred(hu_importing *c, hu_value *v, hu_value *zero);

/* node/whole.c. The elements of tensor A as ONNX's whole numbers or truth values of TYPE. */
int hu_whole_of(hu_importing *c, int a, int type);
/* Cut towards zero; and wrapped around to the bits of TYPE where that has 32 or fewer. */
int hu_whole_trunc(hu_importing *c, int a);
int hu_whole_wrap(hu_importing *c, int a, int type);

/* The shape that A and B broadcast to; 0 where they do not. */
int hu_import_broadcast(const hu_value *a, const hu_value *b, int *rank, size_t *d);
/* An axis of RANK axes, negative ones counted from the end; -1 and a failure where there is no such axis. */
int hu_import_axis(hu_importing *c, double axis, int rank);
#endif
