/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels of exact sums. A panel of A's vectors meets one of B's, and each output is summed over ascending k
   into `levels` doubles on ever finer grids (enclose.h, gemm.h). Every level but the last starts from 3·2^(m-1) and
   therefore keeps its exponent: T + x is then x rounded to T's grid, and x - (T' - T) is exact. The first level
   takes the product in one fma. */
#ifndef HU_EXACT_GRID_H
#define HU_EXACT_GRID_H

#include <stddef.h>
#include <stdint.h>

enum {
	HU_GRID_ROWS = 6,     /* vectors of a left panel, on every instruction set */
	HU_GRID_COLS = 16,    /* vectors of a right panel, at most */
	HU_GRID_CHUNK = 1024, /* terms that one call may sum, for which the grids are laid out */
	HU_GRID_LEVELS = 16   /* of 42 bits each; the widest products of fp32 need 14 */
};

/* The levels for sums of k terms: where each starts, and in limit[l] how many bits below a product's exponent l
   levels hold. */
typedef struct hu_grid_plan { double start[HU_GRID_LEVELS]; int limit[HU_GRID_LEVELS + 1]; } hu_grid_plan;

/* Makes the plan for operands scaled into (-2,2). A product enters as one double, or as two, by terms_of_a_product. */
void hu_plan_make(hu_grid_plan *p, size_t k, size_t terms_of_a_product);

/* ceil(log2 n); 0 for n = 0. */
static inline int
hu_log2_up(size_t n)
{
	return n > 1 ? 64 - __builtin_clzll((unsigned long long)n - 1) : 0;
}

/* Sums kc products into t[level][row * cols + col]. The caller has set the levels' starts; the last level's is 0. */
typedef void hu_grid_sum(size_t kc, const double *a, const double *b, double *t, int levels);

/* One sum of up to 1024 terms (a[k] fa) (b[k] fb), where fa and fb are powers of two: sum[l] += what level l holds. */
typedef void hu_grid_dot(
	size_t k, const double *a, const double *b, double fa, double fb, int levels, const double *start, double *sum);

/* Measures the `width` vectors of a panel. For each vector it gives the bits of the largest |x|, the bits of the
   value of its elements' lowest bit (all ones where every element is 0), and the bitwise or of the elements'
   fractions. */
typedef void hu_grid_measure(size_t k, size_t width, const double *x, uint64_t *top, uint64_t *low, uint64_t *all);
typedef void hu_grid_scale(size_t k, size_t width, double *x, const double *factor);

/* hi + lo += t[0] - start + t[1] for n outputs. lost grows by about what that dropped: lost (1 + 2^-50) bounds it. */
typedef void hu_grid_gather(size_t n, const double *t, double start, double *hi, double *lo, double *lost);

/* Between two chunks: moves the finer levels' excess into the coarser ones, so that only the first grows with k. */
typedef void hu_grid_carry(size_t n, double *t, int levels, const double *start);

/* hi + lo = (coarse - start + fine) f, or (p 2^52 + q) f with |p| <= 2^53, for n outputs; hi is the nearest double.
   fine may be NULL. */
typedef void hu_grid_pairs(
	size_t n, const double *coarse, const double *fine, double start, const double *f, double *hi, double *lo);

/* The same from all levels, of which level l of output i is t[l * size + i]: hi is the nearest double, and lo the
   nearest one to what is left. rest is 0 where hi + lo is the sum, positive where more is left, and -1 where the two
   could not be settled so: hi and lo then mean nothing. */
typedef void hu_grid_round(size_t n, size_t size, int levels, const double *t, const double *start, const double *f,
	double *hi, double *lo, double *rest);
typedef void hu_grid_join(size_t n, const int64_t *p, const int64_t *q, const double *f, double *hi, double *lo);

typedef struct hu_grid {
	size_t cols;                    /* vectors of a right panel */
	hu_grid_sum *sum, *magnitude;   /* magnitude sums |a| |b| in one level */
	hu_grid_sum *narrow_sum, *narrow_magnitude; /* the same bits, where every product is a double */
	hu_grid_sum *wide_sum;                      /* products of any doubles, two levels or more */
	hu_grid_dot *narrow_dot, *wide_dot;
	hu_grid_measure *measure;
	hu_grid_scale *scale;
	hu_grid_gather *gather;
	hu_grid_carry *carry;
	hu_grid_pairs *pairs;
	hu_grid_round *round;
	hu_grid_join *join;
} hu_grid;

extern const hu_grid hu_grid_scalar, hu_grid_avx2, hu_grid_avx512;

/* The kernels of the instruction set in use (lib/number/simd.h). */
const hu_grid *hu_grid_get(void);
#endif
