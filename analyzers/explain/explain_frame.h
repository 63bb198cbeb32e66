/* SPDX-License-Identifier: Apache-2.0
   Numbers aligned by the weights of their bits: collects rows, then makes a panel of them with a
   column a weight. Long stretches without a digit are left out. */
#ifndef HU_ANALYZERS_EXPLAIN_FRAME_H
#define HU_ANALYZERS_EXPLAIN_FRAME_H

#include "analyzers/explain/explain_drawing.h"

#include <gmp.h>
#include <mpfr.h>

enum { HU_NO_LINE = -1000000 };   /* below every weight */

/* A row: the bits of m * 2^e from weight first down to last. */
typedef struct hu_aligned {
	char *label, *value;
	const char *sign;
	mpz_t m;
	long e, first, last;    /* first < last: no digit */
	long line, chop;        /* weight of the last bit kept, of the last one aligned; HU_NO_LINE: none */
	int rule, more, leaves_out;
	int exact;              /* guard, round and sticky are told apart; else all below the line is lost */
	int plain;              /* no bit is leading: part of a larger number */
	int changed;            /* row whose bits these are after rounding: differences are marked; -1: none */
	int marks;              /* no digits: G, R and S below the bits of the row before */
} hu_aligned;

typedef struct hu_frame { hu_aligned *row; int n, cap; } hu_frame;

void hu_frame_init(hu_frame *f);
void hu_frame_release(hu_frame *f);

/* A row for v, its sign drawn where it is negative; digits from its first bit to weight `last`, or to
   its last set bit where that is lower. Zero: one digit, at `last`. The pointer holds until the next row. */
hu_aligned *hu_frame_add(hu_frame *f, const char *label, mpfr_srcptr v, long last, const char *value);
/* A row of letters below the bits beyond line down to weight `last`: G, R and S. */
void hu_frame_marks(hu_frame *f, long line, long last);
/* A line of words in place of rows left out. */
void hu_frame_leave_out(hu_frame *f, const char *value);

/* The panel, added to d. */
void hu_frame_draw(const hu_frame *f, hu_drawing *d, const char *heading);

/* Weight of v's lowest set bit; otherwise for a zero. */
long hu_lowest_bit(mpfr_srcptr v, long otherwise);
#endif
