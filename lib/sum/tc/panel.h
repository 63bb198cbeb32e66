/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels of emulated tensor cores. One row of outputs advances over blocks of k, with the bits of hu_tc_sum
   (tc.h), vectorised over outputs. Products and their alignment are fp32 operations that happen to be exact: two
   significands of p <= 12 bits multiply exactly, a power of two brings the product to units of 2^(emax-F), and
   conversion to an integer truncates toward zero, which is the chop. */
#ifndef HU_SUM_TC_PANEL_H
#define HU_SUM_TC_PANEL_H

#include "lib/base/inline.h"
#include "lib/sum/tc/tc.h"

#include <stddef.h>

/* The exponent that stands for a zero. The sum of two of them still fits 16 bits. */
enum { HU_TC_NONE = -(1 << 13) };
/* Nonzero operands with exponents of at most ±HU_TC_NEAR have products whose scaled values are normal in fp32. */
enum { HU_TC_NEAR = 50 };

typedef struct hu_tc_plan {
	hu_tc t;
	hu_format a, b, out;   /* the operands' formats inside; the accumulator's: fp32 or fp16 */
	size_t step;           /* products in one turn: a block of L, or both blocks of HALVES */
	int floor;             /* the least common exponent: a zero's (emin - zero), but -100 at least */
} hu_tc_plan;

/* Advances one row, of as many columns as the panel has, by `blocks` turns of `step` products each. a holds the
   row's values and ea their exponents as hu_tc_split gives them (HU_TC_NONE for zeros), twice in each word; b and eb
   hold the columns' values and exponents, all columns of one k together. For HALVES the first block's operands
   precede the second's in every turn. All operands are finite. hu_tc_near takes operands that are zero or within
   2^±HU_TC_NEAR; hu_tc_far takes any, with their significands value * 2^-exponent in sa and sb. The accumulators c
   are finite or infinite, and for HALVES may be NaN; a NaN's sign is unspecified. */
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

/* The kernels of the instruction set in use (lib/number/simd.h). */
const hu_tc_panel *hu_tc_panel_get(void);

/* Sets the plan for a resolved model. Returns 0 where no kernel knows the row; then only tc.h serves it. Not for
   CHAIN. */
int hu_tc_plan_of(hu_tc_plan *p, hu_sum s);

/* Converts one operand to the kernels' form: x is a value of f, or any float where f is tf32, which drops its last
   bits. *near and *finite are cleared where the operand is not near or not finite. */
float hu_tc_operand(float x, hu_format f, int16_t *e, int *near, int *finite);

/* The plain version of one block, for the lanes that a kernel marked: nr columns, l products, accumulators c,
   results r. */
void hu_tc_panel_plain(float *r, const int32_t *mark, const float *c, const float *a, const float *b, size_t nr, int l,
	const hu_tc_plan *p);
#endif
