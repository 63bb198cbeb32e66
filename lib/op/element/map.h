/* SPDX-License-Identifier: Apache-2.0
   Runs an element-by-element operator: it loads blocks of the operands in the compute format, applies the operator's
   formula, and rounds each result once to its own tensor's format. Reductions are in reduce.h. */
#ifndef HU_OP_MAP_H
#define HU_OP_MAP_H

#include "lib/op/element/formula.h"
#include "lib/op/element/formulas.h"
#include "lib/op/sink.h"

/* HU_MAP_PART is how many elements of a block have their operands on the stack at once, for numeric types wider than a
   double. */
enum { HU_MAP_BLOCK = 512, HU_MAP_PART = HU_MAP_BLOCK / 2, HU_MAP_IN = 8, HU_MAP_OUT = 4 };

/* An operand. e[i] bounds |t[i] - exact value i|. low holds the trailing parts and errors of a certified value. NULL
   stands for zeros. */
typedef struct hu_source { const hu_tensor *t; hu_how how; const double *e; const hu_low *low; } hu_source;

/* The operator's formula on one block of n elements in each numeric type, and on one element in exact arithmetic (x:
   the operands, k: the constants, y: set to result out). */
typedef struct hu_blocks {
	void (*f32)(const hu_ctx_f32 *c, size_t n, const float *const *in, float *const *out);
	void (*f64)(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out);
	void (*any)(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out);
	void (*run)(const hu_ctx_bounded *c, size_t n, const hu_bounded *const *in, hu_bounded *const *out);
	void (*dd)(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out);
	void (*exact)(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y);
	uint64_t (*count)(const hu_ctx_count *c, size_t n, const double *const *in,
		double *const *out); /* returns how many operations it performed */
} hu_blocks;

/* gcc at -O2 vectorises a loop of unknown length only if told to. clang does so by itself, and warns if it is told to
   and cannot. */
#ifdef __clang__
#define HU_SIMD
#else
#define HU_SIMD _Pragma("omp simd")
#endif

/* Defines static functions NAME_f32, NAME_f64, NAME_any, NAME_run, NAME_dd and NAME_count and the hu_blocks NAME that
   lists them. Each loops over a formula F(S, T) that computes element i, where S is the suffix of the numeric type's
   functions and T its type. HU_BLOCKS_OF takes a formula F(X, S, T). */
#define HU_BLOCKS(NAME, F, EXACT) HU_BLOCKS_OF(NAME, HU_BLOCK_FORMULA, F, EXACT)
#define HU_BLOCK_FORMULA(F, S, T) F(S, T)
#define HU_BLOCKS_OF(NAME, F, X, EXACT)                                                                               \
	static void NAME##_f32(const hu_ctx_f32 *c, size_t n, const float *const *in, float *const *out)              \
	{                                                                                                             \
		(void)c;                                                                                              \
		HU_SIMD                                                                                               \
		for (size_t i = 0; i < n; i++)                                                                        \
			F(X, _f32, float);                                                                            \
	}                                                                                                             \
	static void NAME##_f64(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out)            \
	{                                                                                                             \
		(void)c;                                                                                              \
		for (size_t i = 0; i < n; i++)                                                                        \
			F(X, _f64, double);                                                                           \
	}                                                                                                             \
	static void NAME##_any(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out)            \
	{                                                                                                             \
		(void)c;                                                                                              \
		for (size_t i = 0; i < n; i++)                                                                        \
			F(X, _any, double);                                                                           \
	}                                                                                                             \
	static void NAME##_run(const hu_ctx_bounded *c, size_t n, const hu_bounded *const *in, hu_bounded *const *out) \
	{                                                                                                             \
		(void)c;                                                                                              \
		for (size_t i = 0; i < n; i++)                                                                        \
			F(X, _run, hu_bounded);                                                                       \
	}                                                                                                             \
	static void NAME##_dd(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out)                \
	{                                                                                                             \
		(void)c;                                                                                              \
		for (size_t i = 0; i < n; i++)                                                                        \
			F(X, _dd, hu_dd);                                                                             \
	}                                                                                                             \
	static uint64_t NAME##_count(const hu_ctx_count *c, size_t n, const double *const *in, double *const *out)    \
	{                                                                                                             \
		(void)c;                                                                                              \
		hu_operations = 0;                                                                                    \
		for (size_t i = 0; i < n; i++)                                                                        \
			F(X, _count, double);                                                                         \
		return hu_operations;                                                                                 \
	}                                                                                                             \
	static const hu_blocks NAME = { NAME##_f32, NAME##_f64, NAME##_any, NAME##_run, NAME##_dd, EXACT,             \
		NAME##_count };

/* A map: blocks applied to n elements. k holds the constants in double, ke how far these doubles are from the
   mathematical constants, and kd certified values of those whose bit in certified is set (the others equal k
   exactly). */
typedef struct hu_map {
	const hu_call *call;
	const hu_blocks *blocks;
	void (*exact)(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y); /* NULL: that of blocks */
	hu_format_id compute;   /* the call's, unless the operator sets another */
	int nin, nout, nk;
	hu_source in[HU_MAP_IN];
	size_t n, channels, image;
	double k[HU_CONSTANTS], ke[HU_CONSTANTS];
	hu_dd kd[HU_CONSTANTS];
	struct {
		const hu_tensor *t;
		size_t i;
	} kx[HU_CONSTANTS]; /* constants of the reference that are elements of tensors, trailing parts included */
	unsigned certified;
	const struct hu_ddw_loops *loops; /* several double-doubles at a time; NULL: none. hu_map_context_dd finds it */
} hu_map;

/* Starts a map of n elements for call c; hu_map_add appends an operand. */
void hu_map_init(hu_map *m, const hu_call *c, const hu_blocks *b, size_t n, size_t channels);
void hu_map_add(hu_map *m, const hu_tensor *t, hu_how how);
/* Gives constant i in double-double. */
void hu_map_certify(hu_map *m, int i, hu_dd k);

/* Runs the map. out[k] may be NULL if the caller does not want that output. */
void hu_map_emulate(const hu_map *m, hu_tensor *const *out, int nout, const hu_env *env);
hu_status hu_map_reference(const hu_map *m, int out, const size_t *element, size_t n, mpfr_t *exact);
/* Hands enclosures of output out to sink, computed by the map exact. Bounds come from the map bound: the same map, or
   one with emulated statistics. */
hu_status hu_map_enclose(hu_map *exact, const hu_map *bound, hu_tensor *const *in, int out, hu_format_id format,
	const size_t *element, size_t n, hu_sink *sink);
/* Bounds |emulated - exact| of listed elements; format is the output's. */
hu_status hu_map_bound(
	const hu_map *m, int nout, int out, hu_format_id format, const size_t *element, size_t n, double *bound);

/* The pieces, for reductions: one block of at most HU_MAP_BLOCK unrounded results (f64 serves any compute format but
   fp32), and the bounded results of single elements, y[i*nout + k]. */
hu_ctx_f32 hu_map_context_f32(const hu_map *m);
hu_ctx_f64 hu_map_context_f64(const hu_map *m);
void hu_map_block_f32(const hu_map *m, const hu_ctx_f32 *c, size_t first, size_t n, float *const *to);
void hu_map_block_f64(const hu_map *m, const hu_ctx_f64 *c, size_t first, size_t n, double *const *to);
void hu_map_runs(const hu_map *m, const size_t *element, size_t n, int nout, hu_bounded *y);
/* Computes at most HU_MAP_BLOCK elements from first on, or those of the list; y[k] gets result k. The trailing parts in
   sink belong to the operands in. */
void hu_map_block_run(
	const hu_map *m, const hu_ctx_bounded *c, const size_t *element, size_t first, size_t n, hu_bounded *const *y);
hu_ctx_bounded hu_map_context_run(const hu_map *m);
hu_ctx_dd hu_map_context_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink);
void hu_map_block_dd(
	const hu_map *m, const hu_ctx_dd *c, const size_t *element, size_t first, size_t n, hu_dd *const *y);

/* A bound on |round(x.v) - exact| in format under the call's rounding mode; +Inf if the result may overflow. */
double hu_bound_of(const hu_call *c, hu_format_id format, hu_bounded x);
/* hu_stored returns x rounded to format as the call says, as element i of its output; hu_store also stores it in t. */
double hu_stored(const hu_call *c, const hu_env *env, hu_format_id format, size_t i, double x);
void hu_store(const hu_call *c, const hu_env *env, hu_tensor *t, size_t i, double x);

/* The format that bounds assume for output out: the call's output format for the first, the format of the operand that
   it updates or differentiates for the others, the compute format for statistics. */
hu_format_id hu_output_format(const hu_call *c, hu_tensor *const *in, int out);

/* The bits from the leading one of element i of t with its trailing parts to the last one of any part, 64 at least. A
   pair such as 1 - 2^-658 needs hundreds, because its trailing part is small beside its leading one. */
mpfr_prec_t hu_map_exact_bits(const hu_tensor *t, size_t i);

/* Whether h + l, h being the double nearest to it, surely has no more than so many bits. */
static inline int
hu_exact_is_short(double h, double l, mpfr_prec_t bits)
{
	int top = (int)(hu_bits64(h) >> 52 & 0x7ff), low = (int)(hu_bits64(l) >> 52 & 0x7ff);

	return top > 0 && top < 0x7ff && bits >= 64 &&
	       (l == 0 || (low > 0 && top >= low && top - low + 56 <= bits));
}

/* hu_exact_get sets x to element i of t with its trailing parts; hu_map_exact_add adds it to sum part by part.
   Where there are trailing parts both are exact: x and sum are given a larger precision where theirs does not
   suffice. */
static inline void
hu_exact_get(mpfr_t x, const hu_tensor *t, size_t i)
{
	int brief = t->lows == 1 && hu_exact_is_short(hu_get(t, i), t->low[i], mpfr_get_prec(x));
	mpfr_prec_t bits = t->lows && !brief ? hu_map_exact_bits(t, i) : 0;

	if (bits > mpfr_get_prec(x))
		mpfr_set_prec(x, bits);
	mpfr_set_d(x, hu_get(t, i), MPFR_RNDN);
	for (int p = 0; p < t->lows; p++)
		mpfr_add_d(x, x, t->low[(size_t)p * t->n + i], MPFR_RNDN);
}

void hu_map_exact_add(mpfr_t sum, const hu_tensor *t, size_t i);

/* Sets y to the value v exactly, for results that involve no rounding. */
static inline void
hu_exact_set(mpfr_t y, double v)
{
	mpfr_set_prec(y, 64);
	mpfr_set_d(y, v, MPFR_RNDN);
}

/* Shape rules. settle compares an output shape that was given (op.h) with want, or sets it; expect checks an
   input's. */
hu_status hu_shape_settle(const hu_call *c, int k, hu_shape *out, hu_shape want);
hu_status hu_shape_expect(const hu_call *c, int k, hu_shape in, hu_shape want);
/* Operand k must have n elements. */
hu_status hu_shape_length(const hu_call *c, int k, hu_shape in, size_t n);

/* An update has from least to most operands; a learning rate that is an operand (hu_rate_operand) comes after them and
   is a scalar. */
hu_status hu_shape_rate(const hu_call *c, const hu_shape *in, int least, int most);

/* The precision of the references in bits: far beyond any error that an fp64 computation could hide. */
enum { HU_EXACT_BITS = 512 };
#endif
