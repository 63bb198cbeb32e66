/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels of emulated products: a tile of outputs advances over k, each output
   by acc = fma(a, b, acc) in ascending k. Vectorised over outputs, so the order of
   every single sum is the plain one and all instruction sets give the same bits. */
#ifndef HU_SUM_PANEL_H
#define HU_SUM_PANEL_H

#include <stddef.h>

/* C (mr x nr, row stride ldc) += A (kc x mr, packed) * B (kc x nr, packed). */
typedef void hu_panel_f32(size_t kc, const float *a, const float *b, float *c, size_t ldc);
typedef void hu_panel_f64(size_t kc, const double *a, const double *b, double *c, size_t ldc);

typedef struct hu_panel {
	size_t mr, nr32, nr64;   /* the tile: rows, and columns for float and double */
	hu_panel_f32 *f32;
	hu_panel_f64 *f64;
} hu_panel;

extern const hu_panel hu_panel_scalar, hu_panel_avx2, hu_panel_avx512;

/* That of the instruction set in use (lib/number/simd.h). */
const hu_panel *hu_panel_get(void);
#endif
