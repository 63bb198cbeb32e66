/* SPDX-License-Identifier: Apache-2.0
   Exact products of matrices, tile by tile: C[i,j] = Σ_k A[i,k] B[k,j] as exact values. The operands of a tile are
   scaled by powers of two, and their span of exponents decides how many doubles on fixed grids hold every bit of its
   sums (grid.h): one where the integers of a sum fit 53 bits; two for all of fp16 and e5m2 and for ordinary bf16,
   tf32 and fp32; up to 16 for any fp32, whose products are summed in bins first (bins.h). Sums that no number of
   doubles holds go to MPFR (only fp64 has them). Operands come through callbacks, so memory is bounded by tiles,
   whatever k is. */
#ifndef HU_EXACT_GEMM_H
#define HU_EXACT_GEMM_H

#include "lib/exact/value.h"

#include <stddef.h>
#include <stdint.h>

/* Fetches operands as doubles, in which fp32 and narrower formats are exact: elements k0 .. k1-1 of row i of A, or
   of column i of B, of this batch. The same element must always have the same value. Called from several threads at
   once. */
typedef void hu_exact_fetch(void *context, size_t batch, size_t i, size_t k0, size_t k1, double *x);

typedef struct hu_exact_source {
	size_t batches, m, n, k;
	hu_exact_fetch *row, *column;
	/* NULL, or B's elements across columns, for sources that are faster so: slab(context, batch, k, j0, j1, x). */
	hu_exact_fetch *slab;
	void *context;
} hu_exact_source;

typedef struct hu_exact_tile hu_exact_tile;

/* Receives rows i0 .. i0+m-1 and columns j0 .. j0+n-1 of a batch. Each tile comes once, in any order, from several
   threads at once. The tile lives until the call returns. */
typedef void hu_exact_take(
	void *context, const hu_exact_tile *tile, size_t batch, size_t i0, size_t m, size_t j0, size_t n);

/* Sets *v to output (i, j) of the tile, counted from its corner. Infinities and NaN give what IEEE 754 gives; an
   exact zero is +0. Returns 0 where the value is no sum of doubles in their range (fp64 alone); hu_exact_tile_mpfr
   gives it. */
int hu_exact_tile_value(hu_exact_value *v, const hu_exact_tile *tile, size_t i, size_t j);
/* Sets r to the value; its precision becomes what the value needs. */
void hu_exact_tile_mpfr(mpfr_t r, const hu_exact_tile *tile, size_t i, size_t j);
/* Rounds row i of the tile: hi[j] = RN(value), lo[j] = RN(value - hi[j]), or the best pair in double's range. err
   may be NULL; else err[j] is 0 where hi + lo is the value, and otherwise bounds the difference; it is infinite
   where hi is not finite. */
void hu_exact_tile_pairs(double *hi, double *lo, double *err, const hu_exact_tile *tile, size_t i);

/* Computes every tile of the product, shared among OpenMP's threads. Under HU_EXACT_MPFR (hu_exact_way_set) MPFR
   does it all; else MPFR checks one sum in every few thousand, chosen by the operands' bits, and a disagreement
   prints the operands and ends the program. */
void hu_exact_gemm(const hu_exact_source *s, hu_exact_take *take, void *context);

/* The same from arrays in row-major order: row i of A begins at a + i * lda, row k of B at b + k * ldb. */
void hu_exact_gemm_arrays(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
	hu_exact_take *take, void *context);

/* What computes the sums: grids of one or two doubles a sum; grids or bins that make more; 52-bit integer
   multiply-adds (AVX-512 IFMA); integer slices on the BLAS; MPFR. */
typedef struct hu_exact_ways { uint64_t one, two, more, integers, blas, mpfr; } hu_exact_ways;

/* Counts since hu_exact_way_set of multiply-adds (terms) and sums (by) for each of these. None of this changes a
   bit, because a sum that is exact in one way is exact in every other. A sum with an infinity or NaN among its
   operands counts with its neighbours, although MPFR computes it. */
typedef struct hu_exact_tally {
	hu_exact_ways terms, by;
	uint64_t judged, sums;         /* judged: sums that MPFR checked (all agreed); sums: all sums */
} hu_exact_tally;
void hu_exact_tally_get(hu_exact_tally *t);

/* Which kernels hu_exact_gemm may choose from; for tests and comparisons. HU_KERNELS_BLAS uses the BLAS for whatever
   slices can do, fast or not, and HU_KERNELS_BINS does so with bins. */
typedef enum hu_exact_kernels {
	HU_KERNELS_AUTO,
	HU_KERNELS_GRIDS,
	HU_KERNELS_INTEGERS,
	HU_KERNELS_BINS,
	HU_KERNELS_BLAS
} hu_exact_kernels;
void hu_exact_kernels_set(hu_exact_kernels k);
/* One line for a person or a table's header: this processor's kernels and the BLAS, which it loads. The string lives
   as long as the program. */
const char *hu_exact_describe(void);
#endif
