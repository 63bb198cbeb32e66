/* SPDX-License-Identifier: Apache-2.0
   Formulas for several double-doubles at a time (lib/exact/dd/ddw.h), and for several values of the type hu_bounded
   (ddw_bounded.inc), beside the loops for single values of hu_blocks.
   An operator whose exact values take long includes this and writes HU_DDW_LOOPS beside its HU_BLOCKS, which enters its
   loops in a list before main begins. The pointwise formulas of formulas.def all have theirs (ddw_loops.c). */
#ifndef HU_OP_DDW_LOOPS_H
#define HU_OP_DDW_LOOPS_H

#include "lib/exact/dd/ddw.h"
#include "lib/op/element/map.h"

struct hu_ddw8;
struct hu_ddw8_constants;
struct hu_ddw4;
struct hu_ddw4_constants;
struct hu_ddw8_bounded;
struct hu_ddw8_bounded_context;
struct hu_ddw4_bounded;
struct hu_ddw4_bounded_context;
/* The formula on n registers of each operand. Lanes whose bound is NaN are left to the loop for single values. It
   returns 0 if the formula decides by a value, and then the results count for nothing. */
typedef int hu_ddw_loop8(
	const struct hu_ddw8_constants *c, size_t n, const struct hu_ddw8 *const *in, struct hu_ddw8 *const *out);
typedef int hu_ddw_loop4(
	const struct hu_ddw4_constants *c, size_t n, const struct hu_ddw4 *const *in, struct hu_ddw4 *const *out);
/* The same for values with bounds in float32 or float64, of which no lane is left. */
typedef int hu_ddw_run8(const struct hu_ddw8_bounded_context *c, size_t n, const struct hu_ddw8_bounded *const *in,
	struct hu_ddw8_bounded *const *out);
typedef int hu_ddw_run4(const struct hu_ddw4_bounded_context *c, size_t n, const struct hu_ddw4_bounded *const *in,
	struct hu_ddw4_bounded *const *out);

/* The loops for single values, and those that do their work for eight and for four; these are NULL where a build has
   none. */
typedef struct hu_ddw_loops {
	const char *name;
	void (*dd)(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out);
	void (*run)(const hu_ctx_bounded *c, size_t n, const hu_bounded *const *in, hu_bounded *const *out);
	hu_ddw_loop8 *by8;
	hu_ddw_loop4 *by4;
	hu_ddw_run8 *run8;
	hu_ddw_run4 *run4;
} hu_ddw_loops;

/* Enters a row; only before main begins. hu_ddw_loops_at returns row i, or NULL after the last. */
void hu_ddw_loops_enter(const hu_ddw_loops *row);
const hu_ddw_loops *hu_ddw_loops_at(size_t i);

/* Returns the loops that do what b->dd does, or NULL. */
const hu_ddw_loops *hu_ddw_loops_find(const hu_blocks *b);
const hu_ddw_loops *hu_ddw_loops_of_formula(hu_formula f);

/* Computes m's formula on the first of n elements, as many as fill whole registers, and returns how many. Where a
   lane's bound is NaN, the loop for single values computes its register's elements again. */
size_t hu_ddw_loops_run(const hu_ddw_loops *loops, const hu_map *m, const hu_ctx_dd *c, size_t n,
	const hu_dd *const *in, hu_dd *const *out);
/* The same for elements first to first + n - 1 of a map that has m->loops, whose operands are arrays or single numbers,
   with the parts of result `out` in arrays. It is 0 for a map that has other operands. */
size_t hu_ddw_loops_apart(const hu_map *m, const hu_ctx_dd *c, size_t first, size_t n, int out, double *hi, double *lo,
	double *err);
/* The same for values with bounds; 0 where the format of c is neither float32 nor float64. */
size_t hu_ddw_loops_bounded(const hu_ddw_loops *loops, const hu_map *m, const hu_ctx_bounded *c, size_t n,
	const hu_bounded *const *in, hu_bounded *const *out);

#ifdef HU_DDW
#define HU_DDW_EACH "lib/op/element/ddw/ddw_bounded.inc"
#include "lib/exact/dd/ddw_each.h"

/* The numeric types for several values. Formulas that look at a value take note of it (hu_numeric_value). */
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")
HU_ENCLOSURE_OF(ddw8, hu_ddw8, hu_ddw8_constants, hu_ddw8, h[0], HU_IN_ITSELF)
#define hu_numeric_value_ddw8(a) hu_ddw8_value(a)
#define HU_S ddw8
#include "lib/op/element/formula.inc"
HU_ENCLOSURE_OF(run8, hu_ddw8_bounded, hu_ddw8_bounded_context, hu_ddw8_bounded, v[0], HU_IN_FORMAT)
#define hu_numeric_value_run8(a) hu_ddw8_bounded_value(a)
#define HU_S run8
#include "lib/op/element/formula.inc"
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
HU_ENCLOSURE_OF(ddw4, hu_ddw4, hu_ddw4_constants, hu_ddw4, h[0], HU_IN_ITSELF)
#define hu_numeric_value_ddw4(a) hu_ddw4_value(a)
#define HU_S ddw4
#include "lib/op/element/formula.inc"
HU_ENCLOSURE_OF(run4, hu_ddw4_bounded, hu_ddw4_bounded_context, hu_ddw4_bounded, v[0], HU_IN_FORMAT)
#define hu_numeric_value_run4(a) hu_ddw4_bounded_value(a)
#define HU_S run4
#include "lib/op/element/formula.inc"
#pragma GCC pop_options

/* Defines NAME_ddw8 and NAME_ddw4, which compute what NAME_dd of HU_BLOCKS_OF(NAME, F, X, …) computes, and NAME_run8
   and NAME_run4, which compute what NAME_run does. */
#define HU_DDW_LOOP(NAME, F, X, S, W, T, C)                                                                            \
	HU_DDW##W##_CODE static int NAME##_##S(const C *c, size_t n, const T *const *in, T *const *out)                \
	{                                                                                                              \
		(void)c;                                                                                               \
		hu_ddw_unfit = 0;                                                                                      \
		for (size_t i = 0; i < n; i++)                                                                         \
			F(X, _##S, T);                                                                                 \
		return !hu_ddw_unfit;                                                                                  \
	}
#define HU_DDW_BOTH(NAME, F, X)                                                                                        \
	HU_DDW_LOOP(NAME, F, X, ddw8, 8, hu_ddw8, hu_ddw8_constants)                                                   \
	HU_DDW_LOOP(NAME, F, X, ddw4, 4, hu_ddw4, hu_ddw4_constants)                                                   \
	HU_DDW_LOOP(NAME, F, X, run8, 8, hu_ddw8_bounded, hu_ddw8_bounded_context)                                     \
	HU_DDW_LOOP(NAME, F, X, run4, 4, hu_ddw4_bounded, hu_ddw4_bounded_context)
#define HU_DDW_OR_NULL(NAME) NAME##_ddw8, NAME##_ddw4, NAME##_run8, NAME##_run4
#else
#define HU_DDW_BOTH(NAME, F, X)
#define HU_DDW_OR_NULL(NAME) NULL, NULL, NULL, NULL
#endif

/* Enters NAME's loops under the name ROW, beside HU_BLOCKS_OF(NAME, F, X, ...) or HU_BLOCKS(NAME, X, ...). */
#define HU_DDW_LOOPS_OF(ROW, NAME, F, X)                                                                               \
	HU_DDW_BOTH(NAME, F, X)                                                                                        \
	__attribute__((constructor)) static void NAME##_enter(void)                                                    \
	{                                                                                                              \
		static const hu_ddw_loops row = { #ROW, NAME##_dd, NAME##_run, HU_DDW_OR_NULL(NAME) };                 \
		hu_ddw_loops_enter(&row);                                                                              \
	}
#define HU_DDW_LOOPS(ROW, NAME, X) HU_DDW_LOOPS_OF(ROW, NAME, HU_BLOCK_FORMULA, X)
#endif
