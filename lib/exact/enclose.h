/* SPDX-License-Identifier: Apache-2.0
   Certified inner products of a tile, vectorised over its outputs: y[i,j] = Σ_k A[i,k] B[k,j] as an unevaluated sum
   hi + lo of two doubles, with a proven bound of its error. The bound is 0 wherever the operands' span of exponents
   lets two doubles hold every bit (see hu_enclose). All instruction sets and all ways to cut into tiles give the
   same bits. A call runs on one thread; callers share tiles among threads. */
#ifndef HU_EXACT_ENCLOSE_H
#define HU_EXACT_ENCLOSE_H

#include "lib/exact/operand.h"

/* Where the results of a tile go: output (i, j) is element i * ld + j of each array. */
typedef struct hu_enclosure {
	double *hi, *lo;  /* hi = RN(hi + lo); an exact zero is +0, +0; hi NULL: magnitudes alone are wanted */
	double *err;      /* |Σ - (hi + lo)| <= err; 0: hi + lo is exact; INFINITY: nothing is known, see hu_enclose */
	double *mag;      /* >= Σ|a b|, at most a factor 1 + (2k + 3) 2^-52 above; NULL where it is not wanted */
	size_t ld;
} hu_enclosure;

typedef enum hu_depth {
	HU_PLAIN, /* one double for each 1024 terms: err is about min(k, 1024) 2^-53 Σ|ab|; needs mag */
	HU_BARE, /* the same without mag; err lacks the term min(k, 1024) 2^-53 Σ|ab|, which the caller must bound */
	HU_TWO   /* two doubles: err is 0, or about min(k, 1024)^2 k 2^-105 max|a_i| max|b_j|. 4 flops a term */
} hu_depth;

/* Computes the products of all of A's vectors with all of B's, which have equal k. out->hi, lo and err must not be
   NULL, but hi may be where depth is HU_PLAIN: then lo and err are not looked at.
   
   Exact results: under HU_TWO, err = 0 for k <= 1024 where low[i] + low[j] <= 83. That holds for all of fp16, e5m2,
   e4m3 and fp4, whatever their values, and for bf16, tf32 and fp32 where the exponents of a row and a column together
   span less than that. Longer sums are exact too, unless the partial sums of 1024 terms do not add up within 107 bits,
   which the bound notices.
   
   Exceptions: where a vector has an infinity or NaN, or double's range is left (only fp64 data does that), hi = NaN,
   lo = 0 and err = mag = INFINITY; the caller turns to IEEE rules or hu_exact_dot. Products are never rounded first,
   not even fp64's.
   
   Method: operands are scaled into (-2,2). T starts as 3·2^(l+2) with l = ceil(log2 terms), so that every T + ab
   rounds ab to a fixed grid; the rest ab - (T' - T) is exact and is summed in R (Demmel & Nguyen, Parallel
   Reproducible Summation, 2015, with the product fused). |R| <= 2^(2l-50), so its additions err by at most terms
   (terms+1)/2 · 2^(l-103). */
void hu_enclose(const hu_enclosure *out, const hu_operand *a, const hu_operand *b, hu_depth depth);
/* The same, added to what out holds: the next stretch of a long k. Errors and magnitudes add up. */
void hu_enclose_add(const hu_enclosure *out, const hu_operand *a, const hu_operand *b, hu_depth depth);
#endif
