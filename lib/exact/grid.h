/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels of exact sums: a panel of A's vectors against one of B's, each output summed
   over ascending k into LEVELS doubles on ever finer grids (enclose.h, gemm.h). Every level
   but the last starts from 3·2^(m-1) and therefore keeps its exponent: T + x then is x rounded to
   T's grid, and x - (T' - T) is exact. The first level takes the product in one fma. */
#ifndef HU_EXACT_GRID_H
#define HU_EXACT_GRID_H

#include <stddef.h>
#include <stdint.h>

enum {
	HU_GRID_ROWS = 6,     /* vectors of a left panel, on every instruction set */
	HU_GRID_COLS = 16,    /* of a right panel, at most */
	HU_GRID_CHUNK = 1024, /* terms that one call may sum: the grids are laid for them */
	HU_GRID_LEVELS = 16   /* 42 bits each: the widest products of fp32 need 14 */
};

/* Levels for sums of K terms: where each starts, and limit[l], the bits below a product's exponent that l of them hold.
 */
typedef struct hu_grid_plan { double start[HU_GRID_LEVELS]; int limit[HU_GRID_LEVELS + 1]; } hu_grid_plan;

/* For operands scaled into (-2,2), whose products enter as TERMS_OF_A_PRODUCT (1 or 2) doubles. */
void hu_plan_make(hu_grid_plan *p, size_t k, size_t terms_of_a_product);

/* ceil(log2 n); 0 for n = 0. */
static inline int
hu_log2_up(size_t n)
{
	return n > 1 ? 64 - __builtin_clzll((unsigned long long)n - 1) : 0;
}

/* T[level][row * cols + col], where the caller has put the levels' starts: 0 for the last one. */
typedef void hu_grid_sum(size_t kc, const double *a, const double *b, double *t, int levels);

/* One sum of up to 1024 terms (a[k] fa) (b[k] fb), scaled by powers of two; SUM[l] += what its level L holds. */
typedef void hu_grid_dot(
	size_t k, const double *a, const double *b, double fa, double fb, int levels, const double *start, double *sum);

/* What a pass over a right or left panel of WIDTH vectors found: per vector the largest |x| as bits, its elements'
   lowest bit's value as bits (all ones: no nonzero element), and the or of their fractions. */
typedef void hu_grid_measure(size_t k, size_t width, const double *x, uint64_t *top, uint64_t *low, uint64_t *all);
typedef void hu_grid_scale(size_t k, size_t width, double *x, const double *factor);

/* hi + lo += T[0] - START + T[1] for N outputs; LOST += what that dropped, nearly: (1 + 2^-50) of it is a bound. */
typedef void hu_grid_gather(size_t n, const double *t, double start, double *hi, double *lo, double *lost);

/* Between two chunks: the finer levels' excess moves into the coarser ones, so that only the first grows with k. */
typedef void hu_grid_carry(size_t n, double *t, int levels, const double *start);

/* hi + lo = (COARSE - START + FINE) f, or (P 2^52 + Q) f with |P| <= 2^53, hi the nearest double, for N outputs. FINE
   may be NULL. */
typedef void hu_grid_pairs(
	size_t n, const double *coarse, const double *fine, double start, const double *f, double *hi, double *lo);
typedef void hu_grid_join(size_t n, const int64_t *p, const int64_t *q, const double *f, double *hi, double *lo);

typedef struct hu_grid {
	size_t cols;                    /* vectors of a right panel */
	hu_grid_sum *sum, *magnitude;   /* magnitude: one level, from |a| and |b| */
	hu_grid_sum *narrow_sum, *narrow_magnitude; /* where every product is a double: equal bits */
	hu_grid_sum *wide_sum;                      /* any doubles' products, two levels or more */
	hu_grid_dot *narrow_dot, *wide_dot;
	hu_grid_measure *measure;
	hu_grid_scale *scale;
	hu_grid_gather *gather;
	hu_grid_carry *carry;
	hu_grid_pairs *pairs;
	hu_grid_join *join;
} hu_grid;

extern const hu_grid hu_grid_scalar, hu_grid_avx2, hu_grid_avx512;

/* That of the instruction set in use (lib/number/simd.h). */
const hu_grid *hu_grid_get(void);
#endif
