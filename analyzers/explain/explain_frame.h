/* SPDX-License-Identifier: Apache-2.0
   Aligns numbers by the weights of their bits: collects rows, then makes a panel of them with a column for each weight
   (power of two). Long stretches without a digit are left out. */
#ifndef HU_ANALYZERS_EXPLAIN_FRAME_H
#define HU_ANALYZERS_EXPLAIN_FRAME_H

#include "analyzers/explain/explain_drawing.h"

#include <gmp.h>
#include <mpfr.h>

enum { HU_NO_LINE = -1000000 };   /* a weight below every other */

/* A row: the bits of m * 2^e from weight first down to weight last. */
typedef struct hu_aligned {
	char *label, *value;
	const char *sign;
	mpz_t m;
	long e, first, last;    /* first < last where there is no digit */
	long line, chop;        /* weight of the last bit that is kept, and of the last one that the alignment keeps;
				   HU_NO_LINE: none */
	int rule, more, leaves_out;
	int exact;              /* guard, round and sticky bits are drawn apart; otherwise all bits below the line are
				   drawn as lost */
	int plain;              /* no bit is drawn as the leading one, since this is a part of a larger number */
	int changed;            /* index of the row that this one is after rounding: the bits that differ are marked;
				   -1: none */
	int marks;              /* the row has letters instead of digits: G, R and S below the bits of the row before */
} hu_aligned;

typedef struct hu_frame { hu_aligned *row; int n, cap; } hu_frame;

void hu_frame_init(hu_frame *f);
void hu_frame_release(hu_frame *f);

/* Appends a row for v, with its sign where it is negative and digits from its first bit to weight `last`, or to its
   last set bit where that is lower. For zero there is one digit, at `last`. The pointer is valid until the next row. */
hu_aligned *hu_frame_add(hu_frame *f, const char *label, mpfr_srcptr v, long last, const char *value);
/* Appends a row of the letters G, R and S below the bits after weight line down to weight `last`. */
void hu_frame_marks(hu_frame *f, long line, long last);
/* Appends a line of words in place of rows that are left out. */
void hu_frame_leave_out(hu_frame *f, const char *value);

/* Appends the panel to d. */
void hu_frame_draw(const hu_frame *f, hu_drawing *d, const char *heading);

/* Returns the weight of v's lowest set bit; otherwise where v is zero. */
long hu_lowest_bit(mpfr_srcptr v, long otherwise);
#endif
