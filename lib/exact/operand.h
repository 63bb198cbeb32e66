/* SPDX-License-Identifier: Apache-2.0
   One factor of a product, packed for the grid kernels: vectors of k doubles (rows of A or columns of B), each
   scaled by a power of two into (-2,2), with their largest exponent, lowest bit and number of significant bits.
   These decide how many doubles hold a sum. */
#ifndef HU_EXACT_OPERAND_H
#define HU_EXACT_OPERAND_H

#include <stddef.h>

/* Which factor an operand is: rows of A (i, left) or columns of B (j, right). */
typedef enum hu_operand_side { HU_LEFT, HU_RIGHT } hu_operand_side;

/* Initialise with { 0 }. hu_operand_start keeps the memory, so that one struct serves all tiles of a thread. */
typedef struct hu_operand {
	hu_operand_side side;
	size_t count, k, width, room, padded; /* vectors, their length, vectors a panel; allocated doubles and
						 vectors */
	double *x;                    /* panels of `width` vectors: x[(p * k + kk) * width + lane] */
	int *e;                       /* e[i]: exponent of vector i's largest magnitude, taken out of x */
	int *low;                     /* low[i]: vector i's elements are multiples of 2^-low[i] after scaling */
	int *bits;                    /* bits[i]: significant bits of its elements, at most */
	int *bottom;                  /* bottom[i]: exponent of its lowest bit before scaling; INT_MAX: all zeros so
					 far */
	unsigned char *special;       /* special[i]: 1 if it has an infinity or NaN, and all its elements count as 0 */
	void *rest;                   /* the allocation that these five arrays share */
	int measured, raw;            /* the exponents are known; elements await scaling by hu_operand_ready */
} hu_operand;

/* Makes room for `count` vectors of k elements. Then set every vector once by hu_operand_vector (distinct vectors
   may be set from distinct threads), or every element by hu_operand_slab, in any order, and call hu_operand_ready.
   Any doubles are allowed. Where there is no memory, the program ends with exit code 4, as in hu_xmalloc. */
void hu_operand_start(hu_operand *o, hu_operand_side side, size_t count, size_t k);
/* Sets vector i: its element kk is x[kk * stride]. */
void hu_operand_vector(hu_operand *o, size_t i, const double *x, size_t stride);
/* Sets element kk of every vector: vector i's is x[i * stride]. With a stride of 1, x is a row of a row-major B. */
void hu_operand_slab(hu_operand *o, size_t kk, const double *x, size_t stride);
void hu_operand_ready(hu_operand *o);
void hu_operand_release(hu_operand *o);

/* What hu_operand_measure finds of one vector, n elements a call. Initialise with { 0 }. */
typedef struct hu_measured { int any, special, e, bottom, low, bits; } hu_measured;
void hu_measure(hu_measured *m, const double *x, size_t n);

/* For a k too long to be held at once: call hu_operand_start with the longest stretch. Show all elements once,
   either by hu_operand_measure (n elements a call) or by hu_operand_stretch, hu_operand_slab and hu_operand_survey
   for each stretch. Then call hu_operand_settle, and fill each stretch again: hu_operand_stretch with its length and
   the functions above. The scale is that of the whole vector. */
void hu_operand_measure(hu_operand *o, size_t i, const double *x, size_t n);
void hu_operand_survey(hu_operand *o);
void hu_operand_settle(hu_operand *o);
/* Replaces the measuring, after hu_operand_settle: vector i is scaled by 2^-e, after which its elements must lie in
   (-2,2). They may have any bits, so inner products with it count as inexact. special says that it has an infinity
   or NaN. The caller must bound what underflows in the scaling and in products: less than 2^-1000 of the vectors'
   scales in all. */
void hu_operand_assume(hu_operand *o, size_t i, int e, int special);
/* The same for a vector of zeros alone: inner products with it are exact zeros. */
void hu_operand_assume_zero(hu_operand *o, size_t i);
void hu_operand_stretch(hu_operand *o, size_t k);
#endif
