/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels of emulated tensor cores: one row of outputs advances over blocks of k, the bits
   those of hu_tc_sum (tc.h), vectorised over outputs. Products and their alignment are
   fp32 operations that happen to be exact: two significands of p <= 12 bits multiply exactly, a power of two
   brings the product to units of 2^(emax-F), and truncation to an integer is the chop toward zero. */
#ifndef HU_SUM_TC_PANEL_H
#define HU_SUM_TC_PANEL_H

#include "lib/base/inline.h"
#include "lib/sum/tc.h"

#include <stddef.h>

/* An exponent for a zero; two of them still fit 16 bits. */
enum { HU_TC_NONE = -(1 << 13) };
/* Nonzero operands within 2^±HU_TC_NEAR have products whose scaled values are normal numbers of fp32. */
enum { HU_TC_NEAR = 50 };

typedef struct hu_tc_plan {
	hu_tc t;
	hu_format a, b, out;   /* operands as they enter, and the accumulator: fp32 or fp16 */
	size_t step;           /* products a turn: a block of L, or both of HALVES */
	int floor;             /* the least common exponent: e_zero, and -100 at the lowest */
} hu_tc_plan;

/* BLOCKS turns of STEP products each from the accumulators C, one row, as many columns as the panel has.
   A: the row's values, EA: their exponents as hu_tc_split gives them (of zeros HU_TC_NONE), twice in
   each word; B, EB: the columns' values and exponents, column by column of one k. For HALVES the first set
   precedes the second in every turn. All operands are finite. near: within 2^±HU_TC_NEAR or zero; far: any, where SA
   and SB are the significands, value * 2^-exponent. C: finite, infinite, or of HALVES NaN; a NaN's sign is open. */
typedef void hu_tc_near(size_t blocks, const float *a, const int32_t *ea, const float *b, const int16_t *eb, float *c,
	const hu_tc_plan *p);
typedef void hu_tc_far(size_t blocks, const float *a, const int32_t *ea, const float *sa, const float *b,
	const int16_t *eb, const float *sb, float *c, const hu_tc_plan *p);

typedef struct hu_tc_panel {
	size_t nr;             /* columns */
	hu_tc_near *near;
	hu_tc_far *far;
} hu_tc_panel;

extern const hu_tc_panel hu_tc_panel_scalar, hu_tc_panel_avx2, hu_tc_panel_avx512;

/* That of the instruction set in use (lib/number/simd.h). */
const hu_tc_panel *hu_tc_panel_get(void);

/* S resolved, no CHAIN; 0 where no kernel knows the row: then tc.h alone does. */
int hu_tc_plan_of(hu_tc_plan *p, hu_sum s);

/* One operand as the kernels take it: X is a value of F, or any float where F is tf32, whose last bits fall away.
   *NEAR and *FINITE are cleared where it is not. */
float hu_tc_operand(float x, hu_format f, int16_t *e, int *near, int *finite);

/* The plain version of one block, for lanes MARKed by a kernel: NR columns, L products, accumulators C, results R. */
void hu_tc_panel_plain(float *r, const int32_t *mark, const float *c, const float *a, const float *b, size_t nr, int l,
	const hu_tc_plan *p);
#endif
