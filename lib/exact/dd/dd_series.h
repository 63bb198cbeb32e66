/* SPDX-License-Identifier: Apache-2.0
   The series of the exponential function, which dd.c and ddw.c share. */
#ifndef HU_EXACT_DD_SERIES_H
#define HU_EXACT_DD_SERIES_H

/* 1/k! for k = 2 … 10. */
static const double hu_dd_factorial[][2] = {
	{ 0x1p-1, 0 },
	{ 0x1.5555555555555p-3, 0x1.5555555555555p-57 },
	{ 0x1.5555555555555p-5, 0x1.5555555555555p-59 },
	{ 0x1.1111111111111p-7, 0x1.1111111111111p-63 },
	{ 0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65 },
	{ 0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73 },
	{ 0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76 },
	{ 0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73 },
	{ 0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76 },
};

/* The degree of the series, and how often its argument is halved before and its result squared after. */
enum { HU_DD_DEGREE = sizeof hu_dd_factorial / sizeof *hu_dd_factorial + 1, HU_DD_HALVINGS = 8 };
#endif
