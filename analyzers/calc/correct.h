/* SPDX-License-Identifier: Apache-2.0
   Correctly rounded operations in a number format, by MPFR: for a value or a
   few of them, not for arrays. Their accumulated flags are those of IEEE 754. */
#ifndef HU_ANALYZERS_CORRECT_H
#define HU_ANALYZERS_CORRECT_H

#include "lib/number/round.h"

#include <mpfr.h>

/* What happened; names in this order from hu_note_name. */
enum {
	HU_NOTE_INEXACT = 1,    /* some rounding changed its value */
	HU_NOTE_SWAMPED = 2,    /* some sum equals one of its nonzero operands */
	HU_NOTE_UNDERFLOW = 4,  /* tiny before rounding, and changed by it */
	HU_NOTE_SUBNORMAL = 8,  /* the value is below the smallest normal number */
	HU_NOTE_OVERFLOW = 16,  /* beyond the largest finite value */
	HU_NOTE_INVALID = 32,   /* NaN out of operands that are none */
	HU_NOTE_ENTRY = 64,     /* a block format's value that fp32, in which those take theirs, does not hold */
	HU_NOTES = 7
};

const char *hu_note_name(int i);

typedef enum hu_function {
#define FUNCTION(id, name, least, most, summary) HU_F_##id,
#include "analyzers/calc/functions.def"
#undef FUNCTION
	HU_FUNCTIONS
} hu_function;

/* r = the function of a[0..n-1] rounded toward zero at r's precision; returns
   MPFR's ternary value. SUM and SIGMOID are composed of other calls: SUM is not
   for this function. */
int hu_function_apply(hu_function f, mpfr_ptr r, mpfr_ptr *a, mpfr_rnd_t rnd);

/* The same, rounded to odd (a sticky last bit): rounding the result again to
   any precision at least two bits shorter is rounding the exact value once. */
void hu_function_odd(hu_function f, mpfr_ptr r, mpfr_ptr *a);

/* Makes x, rounded toward zero with ternary, rounded to odd. */
void hu_odd(mpfr_ptr x, int ternary);

/* Rounds x to f as hu_round does, for any precision of x and fp64 too; adds the
   notes INEXACT, UNDERFLOW, OVERFLOW and INVALID (an infinity without a code). */
double hu_correct_round(mpfr_srcptr x, hu_format f, hu_mode mode, int flags, uint32_t rand, int *notes);
#endif
