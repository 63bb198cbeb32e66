/* SPDX-License-Identifier: Apache-2.0
   The table and the series of the exponential function, which dd.c and ddw.c share. */
#ifndef HU_EXACT_DD_EXP_H
#define HU_EXACT_DD_EXP_H

#include "lib/exact/dd/dd.h"

/* Arguments are reduced to at most half of ln 2 / HU_DD_EXP_STEPS, or 2^-9.5; their errors, of at most 2^-11, leave
   them below 2^-9. */
enum { HU_DD_EXP_STEPS = 256, HU_DD_EXP_PAIRS = 4, HU_DD_EXP_TAIL = 6 };
#define HU_DD_EXP_PER_STEP 0x1.71547652b82fep+8

/* 1/k! for k = 10 ... 5, as doubles, and for k = 4 ... 1, as double-doubles. */
static const double hu_dd_exp_tail[HU_DD_EXP_TAIL] = { 0x1.27e4fb7789f5cp-22, 0x1.71de3a556c734p-19,
	0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-13, 0x1.6c16c16c16c17p-10, 0x1.1111111111111p-7 };
static const double hu_dd_exp_series[HU_DD_EXP_PAIRS][2] = { { 0x1.5555555555555p-5, 0x1.5555555555555p-59 },
	{ 0x1.5555555555555p-3, 0x1.5555555555555p-57 }, { 0x1p-1, 0 }, { 1, 0 } };

/* The tail is about 1/120, which loses 2^-53 of itself as a double and in its last addition; all other roundings have a
   power of r, below 2^-9, before them. Its slope is below 1/716, so that the error of r moves it by less than
   HU_DD_EXP_SLOPE of it, and the trailing part of r by 2^-71. What follows r^10 is less than 2^-99 / 11! (1 + 2^-8). */
#define HU_DD_EXP_OFF 0x1p-58
#define HU_DD_EXP_SLOPE 0x1p-9
#define HU_DD_EXP_OMITTED 0x1p-123

/* 2^(i / HU_DD_EXP_STEPS) for i from -HU_DD_EXP_STEPS / 2 to HU_DD_EXP_STEPS / 2; the first call computes it. */
const hu_dd *hu_dd_exp_table(void);
#endif
