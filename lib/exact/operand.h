/* SPDX-License-Identifier: Apache-2.0
   One factor of a product, packed for the grid kernels: vectors of K doubles (rows of A or
   columns of B), each scaled by a power of two into (-2,2), and what was measured of them:
   largest exponent, lowest bit, significant bits. These decide how many doubles hold a sum. */
#ifndef HU_EXACT_OPERAND_H
#define HU_EXACT_OPERAND_H

#include <stddef.h>

/* Which factor an operand is: rows of A (i, left) or columns of B (j, right). */
typedef enum hu_operand_side { HU_LEFT, HU_RIGHT } hu_operand_side;

/* Start from { 0 }. hu_operand_start keeps the memory, so that one struct serves all tiles of a thread. */
typedef struct hu_operand {
	hu_operand_side side;
	size_t count, k, width, room, padded; /* vectors, their length, vectors a panel; allocated: doubles, vectors */
	double *x;                    /* panels of WIDTH vectors: x[(p * k + kk) * width + lane] */
	int *e;                       /* exponent of vector i's largest magnitude, taken out of x */
	int *low;                     /* its elements are multiples of 2^-low[i], once scaled */
	int *bits;                    /* their significant bits, at most */
	int *bottom;                  /* exponent of its lowest bit, unscaled; INT_MAX: all zeros so far */
	unsigned char *special;       /* 1: it has an infinity or NaN, and its elements count as 0 */
	void *rest;                   /* the allocation that these five share */
	int measured, raw;            /* the exponents stand; elements wait for hu_operand_ready to be scaled */
} hu_operand;

/* Makes room for COUNT vectors of K elements. Set every vector once by hu_operand_vector (distinct ones from
   distinct threads, if wanted), or every element by hu_operand_slab, in any order, then hu_operand_ready. Any
   doubles are allowed, subnormal and non-finite ones too. No memory: the program ends with exit 4, as in hu_xmalloc. */
void hu_operand_start(hu_operand *o, hu_operand_side side, size_t count, size_t k);
/* Vector I: element kk is x[kk * stride]. */
void hu_operand_vector(hu_operand *o, size_t i, const double *x, size_t stride);
/* Element KK of every vector: vector i's is x[i * stride]: with a stride of 1 a row of a row-major B. */
void hu_operand_slab(hu_operand *o, size_t kk, const double *x, size_t stride);
void hu_operand_ready(hu_operand *o);
void hu_operand_release(hu_operand *o);

/* What hu_operand_measure finds of one vector, N elements a call; start from { 0 }. */
typedef struct hu_measured { int any, special, e, bottom, low, bits; } hu_measured;
void hu_measure(hu_measured *m, const double *x, size_t n);

/* A k too long to be held: hu_operand_start with the longest stretch; all of every vector once, by hu_operand_measure
   (N elements a call) or stretch by stretch by hu_operand_stretch, hu_operand_slab and hu_operand_survey; then
   hu_operand_settle, and again each stretch: hu_operand_stretch with its length and the functions above. The scale is
   that of the whole. */
void hu_operand_measure(hu_operand *o, size_t i, const double *x, size_t n);
void hu_operand_survey(hu_operand *o);
void hu_operand_settle(hu_operand *o);
/* Instead of measuring, after hu_operand_settle: vector I is scaled by 2^-e, after which its elements must lie in
   (-2,2), and may have any bits: inner products with it count as inexact. SPECIAL: it has an infinity or NaN. What
   underflows in the scaling and in products, below 2^-1000 of the vectors' scales in all, is the caller's to bound. */
void hu_operand_assume(hu_operand *o, size_t i, int e, int special);
void hu_operand_stretch(hu_operand *o, size_t k);
#endif
