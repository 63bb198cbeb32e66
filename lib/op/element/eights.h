/* SPDX-License-Identifier: Apache-2.0
   Formulas for eight double-doubles at a time (lib/exact/dd/ddw.h), beside the loops for single values of hu_blocks.
   An operator whose exact values take long includes this and writes HU_EIGHTS beside its HU_BLOCKS, which enters the
   pair in a list before main begins. The pointwise formulas of formulas.def all have theirs (eights.c). */
#ifndef HU_OP_EIGHTS_H
#define HU_OP_EIGHTS_H

#include "lib/exact/dd/ddw.h"
#include "lib/op/element/map.h"

struct hu_ctx_ddw;
struct hu_ddw;
/* The formula on n times eight elements. Lanes whose bound is NaN are left to the loop for single values. It returns 0
   if the formula decides by a value, and then the results count for nothing. */
typedef int hu_eights_block(
	const struct hu_ctx_ddw *c, size_t n, const struct hu_ddw *const *in, struct hu_ddw *const *out);

/* The loop for single values and the one that does its work for eight; that is NULL where a build has none. */
typedef struct hu_eights {
	const char *name;
	void (*dd)(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out);
	hu_eights_block *eights;
} hu_eights;

/* Enters a pair; only before main begins. hu_eights_at returns pair i, or NULL after the last. */
void hu_eights_enter(const hu_eights *pair);
const hu_eights *hu_eights_at(size_t i);

/* Returns the loop for eight values that does what b->dd does, or NULL. */
hu_eights_block *hu_eights_find(const hu_blocks *b);
hu_eights_block *hu_eights_of_formula(hu_formula f);

#ifdef HU_DDW
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")
HU_ENCLOSURE_OF(ddw, hu_ddw, hu_ctx_ddw, hu_ddw, h[0], HU_IN_ITSELF)
/* Formulas that look at a value take note of it. */
#define hu_carrier_value_ddw(a) hu_ddw_value(a)
#define HU_S ddw
#include "lib/op/element/formula.inc"
#pragma GCC pop_options

/* Defines NAME_ddw, which computes what HU_BLOCKS_OF(NAME, F, X, …) computes. */
#define HU_EIGHTS_LOOP(NAME, F, X)                                                                                     \
	HU_DDW_CODE static int NAME##_ddw(const hu_ctx_ddw *c, size_t n, const hu_ddw *const *in, hu_ddw *const *out)  \
	{                                                                                                              \
		(void)c;                                                                                               \
		hu_ddw_unfit = 0;                                                                                      \
		for (size_t i = 0; i < n; i++)                                                                         \
			F(X, _ddw, hu_ddw);                                                                            \
		return !hu_ddw_unfit;                                                                                  \
	}
#define HU_EIGHTS_OR_NULL(NAME) NAME##_ddw
#else
#define HU_EIGHTS_LOOP(NAME, F, X)
#define HU_EIGHTS_OR_NULL(NAME) NULL
#endif

/* Enters NAME's pair under the name ROW, beside HU_BLOCKS_OF(NAME, F, X, ...) or HU_BLOCKS(NAME, X, ...). */
#define HU_EIGHTS_OF(ROW, NAME, F, X)                                                                                  \
	HU_EIGHTS_LOOP(NAME, F, X)                                                                                     \
	__attribute__((constructor)) static void NAME##_enter(void)                                                    \
	{                                                                                                              \
		static const hu_eights pair = { #ROW, NAME##_dd, HU_EIGHTS_OR_NULL(NAME) };                            \
		hu_eights_enter(&pair);                                                                                \
	}
#define HU_EIGHTS(ROW, NAME, X) HU_EIGHTS_OF(ROW, NAME, HU_BLOCK_FORMULA, X)
#endif
