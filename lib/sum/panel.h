/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels of emulated products: a tile of outputs advances over k, each output
   by acc = fma(a, b, acc) in ascending k. Vectorised over outputs, so the order of
   every single sum is the plain one and all instruction sets give the same bits. */
#ifndef HU_SUM_PANEL_H
#define HU_SUM_PANEL_H

#include "lib/base/inline.h"
#include "lib/number/format.h"

#include <stddef.h>
#include <stdint.h>

/* C (mr x nr, row stride ldc) += A (kc x mr, packed) * B (kc x nr, packed). */
typedef void hu_panel_f32(size_t kc, const float *a, const float *b, float *c, size_t ldc);
typedef void hu_panel_f64(size_t kc, const double *a, const double *b, double *c, size_t ldc);

/* An accumulator's format with p <= 25, -0 and NaN, as the narrow kernel takes it. */
typedef struct hu_narrow {
	int64_t least;           /* exponent field of 2^emin */
	int64_t shift;           /* what makes 2^e the number whose last bit is worth 2^(e-p+1) */
	double max, beyond, over; /* largest finite; 2^(emax+1); what overflow gives */
} hu_narrow;

/* In double, each step rounded to the format as model.h does under RNE:
   C values of the format, A and B values with p <= 24. */
typedef void hu_panel_narrow(size_t kc, const double *a, const double *b, double *c, size_t ldc, const hu_narrow *f);

typedef struct hu_panel {
	size_t mr, nr32, nr64;   /* the tile: rows, and columns for float and double */
	hu_panel_f32 *f32;
	hu_panel_f64 *f64;
	hu_panel_narrow *fma, *sequential; /* one rounding a step, or the product's too; tiles as f64's */
} hu_panel;

/* 1 and F's constants where the narrow kernel knows the format. */
int hu_narrow_of(hu_narrow *n, hu_format f);

extern const hu_panel hu_panel_scalar, hu_panel_avx2, hu_panel_avx512;

/* That of the instruction set in use (lib/number/simd.h). */
const hu_panel *hu_panel_get(void);
#endif
