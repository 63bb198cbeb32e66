/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels of emulated matrix products: a tile of outputs advances over k, each output by acc = fma(a, b, acc)
   in ascending k. They are vectorised over outputs, so every single sum has the order of the plain version, and all
   instruction sets give the same bits. */
#ifndef HU_SUM_PANEL_H
#define HU_SUM_PANEL_H

#include "lib/base/inline.h"
#include "lib/number/format.h"

#include <stddef.h>
#include <stdint.h>

/* C (mr x nr, rows ldc elements apart) += A (kc x mr, packed) * B (kc x nr, packed). */
typedef void hu_panel_f32(size_t kc, const float *a, const float *b, float *c, size_t ldc);
typedef void hu_panel_f64(size_t kc, const double *a, const double *b, double *c, size_t ldc);

/* An accumulator's format as the narrow kernel takes it: p <= 25, with -0 and NaN. */
typedef struct hu_narrow {
	int64_t least;           /* the exponent field of 2^emin as a double */
	int64_t shift;           /* added to 2^e's exponent field it gives the double whose last bit is worth
				    2^(e-p+1) */
	double max, beyond, over; /* largest finite value; 2^(emax+1); the result of an overflow */
} hu_narrow;

/* The same in doubles, with each step rounded to the format under RNE as model.h rounds it. C holds values of the
   format; A and B hold values with p <= 24. */
typedef void hu_panel_narrow(size_t kc, const double *a, const double *b, double *c, size_t ldc, const hu_narrow *f);

/* Packs rows for a kernel: to[k * lanes + i] = row[i][k], for kc terms of lanes rows, which are mr or nr32 of them. */
typedef void hu_panel_interleave(size_t lanes, size_t kc, const float *const *row, float *to);

/* Terms of a tile's rows where they lie in memory: term k of row i is row[i][k * stride]. */
enum { HU_PANEL_PIECE_ROWS = 12 }; /* of the kernel with the most */
typedef struct hu_panel_piece { const float *row[HU_PANEL_PIECE_ROWS]; size_t terms, stride; } hu_panel_piece;

/* hu_panel_f32 with rows of A that nobody packed: n pieces of them, one after the other in k. */
typedef void hu_panel_pieces(size_t n, const hu_panel_piece *piece, const float *b, float *c, size_t ldc);

typedef struct hu_panel {
	size_t mr, nr32, nr64;   /* the tile's rows, and its columns for float and double */
	hu_panel_f32 *f32;
	hu_panel_f64 *f64;
	hu_panel_narrow *fma, *sequential; /* round each sum once, or its product as well; tiles as for f64 */
	hu_panel_interleave *interleave;
	hu_panel_pieces *pieces; /* NULL: rows are packed */
} hu_panel;

/* Returns 1 and sets the constants where the narrow kernel knows format f. */
int hu_narrow_of(hu_narrow *n, hu_format f);

extern const hu_panel hu_panel_scalar, hu_panel_avx2, hu_panel_avx512;

/* The kernels of the instruction set in use (lib/number/simd.h). */
const hu_panel *hu_panel_get(void);
#endif
