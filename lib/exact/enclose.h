/* SPDX-License-Identifier: Apache-2.0
   Certified inner products of a tile, vectorised over its outputs: y[i,j] = Σ_k A[i,k] B[k,j]
   as an unevaluated pair hi + lo with a proven bound of its error, which is 0 wherever the
   operands' span of exponents lets two doubles hold every bit (docs at hu_enclose). The bits are
   the same for every instruction set and every cutting into tiles. One thread a call;
   callers share tiles among threads. */
#ifndef HU_EXACT_ENCLOSE_H
#define HU_EXACT_ENCLOSE_H

#include "lib/exact/operand.h"

/* Where the tile's results go: output (i, j) at index i * ld + j of each array. */
typedef struct hu_enclosure {
	double *hi, *lo;  /* hi = RN(hi + lo); an exact zero is +0, +0 */
	double *err;      /* |Σ - (hi + lo)| <= err; 0: hi + lo is the sum; INFINITY: no statement, see below */
	double *mag;      /* >= Σ|a b|, within a factor 1 + (2k + 3) 2^-52; NULL where it is not wanted */
	size_t ld;
} hu_enclosure;

typedef enum hu_depth {
	HU_PLAIN, /* one double a chunk of 1024 terms: err <= min(k, 1024) 2^-53 Σ|ab| about. Needs mag. A screen */
	HU_BARE, /* the same with no statement of its own: err lacks min(k, 1024) 2^-53 Σ|ab|, which the caller bounds.
		    Without mag */
	HU_TWO   /* two doubles: err is 0, or about min(k, 1024)^2 k 2^-105 max|a_i| max|b_j|. 4 flops a term */
} hu_depth;

/* All of A's vectors against all of B's (equal k). hi, lo, err must be there.
     Exact (err = 0) under HU_TWO for K <= 1024 when low[i] + low[j] <= 83: all of fp16, e5m2, e4m3 and fp4,
   whatever their values, and bf16, tf32, fp32 where a row's and a column's exponents span less than that; longer sums
   also unless the partial sums of 1024 terms do not add up within 107 bits, which the bound notices.
     Where a vector is special, or double's range is left (fp64 data alone): hi = NaN, lo = 0, err = mag = INFINITY; the
   caller turns to IEEE rules or hu_exact_dot. Products are never rounded first, fp64's neither.
     The way: operands scaled into (-2,2); T starts as 3·2^(l+2), l = ceil(log2 terms), so that every T + ab is
   ab rounded to a fixed grid; the rest ab - (T' - T) is exact and sums into R (Demmel & Nguyen, Parallel Reproducible
   Summation, 2015, with the product fused). |R| <= 2^(2l-50), so its additions err by at most terms(terms+1)/2 ·
   2^(l-103). */
void hu_enclose(const hu_enclosure *out, const hu_operand *a, const hu_operand *b, hu_depth depth);
/* The same added to what OUT holds: the next stretch of a long k. Errors and magnitudes add up. */
void hu_enclose_add(const hu_enclosure *out, const hu_operand *a, const hu_operand *b, hu_depth depth);
/* Upper bounds of Σ|ab| alone (one flop a term). */
void hu_enclose_magnitude(double *mag, size_t ld, const hu_operand *a, const hu_operand *b);
#endif
