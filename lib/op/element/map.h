/* SPDX-License-Identifier: Apache-2.0
   Runs an element-by-element operator: loads blocks of its operands in the compute
   format, applies the operator's formula, rounds each result once to its own
   tensor's format. It does no reductions (reduce.h). */
#ifndef HU_OP_MAP_H
#define HU_OP_MAP_H

#include "lib/op/element/formula.h"
#include "lib/op/element/formulas.h"
#include "lib/op/sink.h"

/* HU_MAP_PART: elements of a block whose operands lie on the stack at once, where an element takes more than a double.
 */
enum { HU_MAP_BLOCK = 512, HU_MAP_PART = HU_MAP_BLOCK / 2, HU_MAP_IN = 8, HU_MAP_OUT = 4 };

/* E: distances of t's elements to what they stand for; LOW: of a certified value; NULL: 0. */
typedef struct hu_source { const hu_tensor *t; hu_how how; const double *e; const hu_low *low; } hu_source;

/* One block of N elements in each carrier; and one element in exact arithmetic:
   x the operands, k the constants, y to be set to result OUT. */
typedef struct hu_blocks {
	void (*f32)(const hu_ctx_f32 *c, size_t n, const float *const *in, float *const *out);
	void (*f64)(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out);
	void (*any)(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out);
	void (*run)(const hu_ctx_bounded *c, size_t n, const hu_bounded *const *in, hu_bounded *const *out);
	void (*dd)(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out);
	void (*exact)(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y);
	uint64_t (*count)(const hu_ctx_count *c, size_t n, const double *const *in,
		double *const *out); /* returns how many operations that was */
} hu_blocks;

/* gcc's -O2 vectorises loops of unknown length only where told to; clang's does, and warns where it is told and cannot.
 */
#ifdef __clang__
#define HU_SIMD
#else
#define HU_SIMD _Pragma("omp simd")
#endif

/* Defines static functions NAME_f32, NAME_f64, NAME_any, NAME_run, NAME_dd and NAME_count and the hu_blocks NAME of
   them: loops over a formula F(S, T) that computes element i, S being the suffix of the carrier's functions and T its
   type; or over F(X, S, T). */
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

/* k: the constants as the mathematics has them, in double; ke: by how much those doubles miss it;
   kd: certified, of those whose bit in CERTIFIED is set (others are k, exactly). */
typedef struct hu_map {
	const hu_call *call;
	const hu_blocks *blocks;
	void (*exact)(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y); /* NULL: the blocks' own */
	hu_format_id compute;   /* the call's, unless the operator says otherwise */
	int nin, nout, nk;
	hu_source in[HU_MAP_IN];
	size_t n, channels, image;
	double k[HU_CONSTANTS], ke[HU_CONSTANTS];
	hu_dd kd[HU_CONSTANTS];
	struct {
		const hu_tensor *t;
		size_t i;
	} kx[HU_CONSTANTS]; /* the reference's constants that are elements of tensors, low parts and all */
	unsigned certified;
} hu_map;

void hu_map_init(hu_map *m, const hu_call *c, const hu_blocks *b, size_t n, size_t channels);
void hu_map_add(hu_map *m, const hu_tensor *t, hu_how how);
/* Constant I in double-double. */
void hu_map_certify(hu_map *m, int i, hu_dd k);

/* Runs the map; OUT[k] may be NULL where the caller does not want it. */
void hu_map_emulate(const hu_map *m, hu_tensor *const *out, int nout, const hu_env *env);
hu_status hu_map_reference(const hu_map *m, int out, const size_t *element, size_t n, mpfr_t *exact);
/* Enclosures of output OUT of c = EXACT's call; bounds by the map BOUND (the same, or with emulated statistics). */
hu_status hu_map_enclose(hu_map *exact, const hu_map *bound, hu_tensor *const *in, int out, hu_format_id format,
	const size_t *element, size_t n, hu_sink *sink);
/* FORMAT: of the output. */
hu_status hu_map_bound(
	const hu_map *m, int nout, int out, hu_format_id format, const size_t *element, size_t n, double *bound);

/* The pieces, for reductions: one block of at most HU_MAP_BLOCK results, unrounded (f64: any
   compute format but fp32); and single elements' runs, y[i*nout + k]. */
hu_ctx_f32 hu_map_context_f32(const hu_map *m);
hu_ctx_f64 hu_map_context_f64(const hu_map *m);
void hu_map_block_f32(const hu_map *m, const hu_ctx_f32 *c, size_t first, size_t n, float *const *to);
void hu_map_block_f64(const hu_map *m, const hu_ctx_f64 *c, size_t first, size_t n, double *const *to);
void hu_map_runs(const hu_map *m, const size_t *element, size_t n, int nout, hu_bounded *y);
/* At most HU_MAP_BLOCK elements from FIRST on, or those of the list; Y[k] by result. SINK's low parts
   belong to the operands IN. */
void hu_map_block_run(
	const hu_map *m, const hu_ctx_bounded *c, const size_t *element, size_t first, size_t n, hu_bounded *const *y);
hu_ctx_bounded hu_map_context_run(const hu_map *m);
hu_ctx_dd hu_map_context_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink);
void hu_map_block_dd(
	const hu_map *m, const hu_ctx_dd *c, const size_t *element, size_t first, size_t n, hu_dd *const *y);

/* A bound on |round(x.v) - exact| in FORMAT under the call's mode; +Inf where it may overflow. */
double hu_bound_of(const hu_call *c, hu_format_id format, hu_bounded x);
/* X rounded to FORMAT as the call says, as element I of its output; and stored in T. */
double hu_stored(const hu_call *c, const hu_env *env, hu_format_id format, size_t i, double x);
void hu_store(const hu_call *c, const hu_env *env, hu_tensor *t, size_t i, double x);

/* The format that bounds assume of output OUT: the call's for the first one, that of the
   operand it updates or differentiates for the others, the compute format for statistics. */
hu_format_id hu_output_format(const hu_call *c, hu_tensor *const *in, int out);

/* X = element I of T with its low parts, rounded to X's precision; SUM += the same, part by part. */
static inline void
hu_exact_get(mpfr_t x, const hu_tensor *t, size_t i)
{
	mpfr_set_d(x, hu_get(t, i), MPFR_RNDN);
	for (int p = 0; p < t->lows; p++)
		mpfr_add_d(x, x, t->low[(size_t)p * t->n + i], MPFR_RNDN);
}

static inline void
hu_exact_add(mpfr_t sum, const hu_tensor *t, size_t i)
{
	mpfr_add_d(sum, sum, hu_get(t, i), MPFR_RNDN);
	for (int p = 0; p < t->lows; p++)
		mpfr_add_d(sum, sum, t->low[(size_t)p * t->n + i], MPFR_RNDN);
}

/* Puts the exact value V into each: results without rounding. */
static inline void
hu_exact_set(mpfr_t y, double v)
{
	mpfr_set_prec(y, 64);
	mpfr_set_d(y, v, MPFR_RNDN);
}

/* Shape rules. An output that was given (op.h) is compared, another is set. */
hu_status hu_shape_settle(const hu_call *c, int k, hu_shape *out, hu_shape want);
hu_status hu_shape_expect(const hu_call *c, int k, hu_shape in, hu_shape want);
/* Operand K has N elements. */
hu_status hu_shape_length(const hu_call *c, int k, hu_shape in, size_t n);

/* Precision of the references: far above what an fp64 computation could hide. */
enum { HU_EXACT_BITS = 512 };
#endif
