/* SPDX-License-Identifier: Apache-2.0
   Correctly rounded operations in a number format, by MPFR. They are meant for a few values, not for arrays. Their
   flags are those of IEEE 754. */
#ifndef HU_ANALYZERS_CORRECT_H
#define HU_ANALYZERS_CORRECT_H

#include "lib/number/round.h"

#include <mpfr.h>

/* Notes on what happened; hu_note_name has their names in this order. */
enum {
	HU_NOTE_INEXACT = 1,    /* some rounding changed its value */
	HU_NOTE_SWAMPED = 2,    /* some sum equals one of its nonzero operands */
	HU_NOTE_UNDERFLOW = 4,  /* tiny before rounding, and changed by it */
	HU_NOTE_SUBNORMAL = 8,  /* the value is below the smallest normal number */
	HU_NOTE_OVERFLOW = 16,  /* the rounded value exceeds the largest finite one */
	HU_NOTE_INVALID = 32,   /* a NaN from operands that are not NaN */
	HU_NOTE_ENTRY = 64,     /* a value given to a block format that fp32 does not hold; blocks take their values in
				   fp32 */
	HU_NOTE_DIVIDE_BY_ZERO = 128,   /* an infinity that is exact, from finite operands: 1/0, log(0) */
	HU_NOTE_ZEROED = 256,   /* a literal or a cast's operand that is not 0 became 0 */
	HU_NOTES = 9,
	HU_NOTE_REFUSED = 512   /* no flag: a sum's model does not take a term, and hu_reason says which */
};

const char *hu_note_name(int i);

typedef enum hu_function {
#define FUNCTION(id, name, least, most, summary) HU_F_##id,
#include "analyzers/expression/functions.def"
#undef FUNCTION
	HU_FUNCTIONS
} hu_function;

/* Sets r to the function of a[0..n-1], rounded in direction rnd at r's precision, and returns MPFR's ternary value (the
   sign of the rounding error). SUM is not supported here; SIGMOID is composed of other functions. */
int hu_function_apply(hu_function f, mpfr_ptr r, mpfr_ptr *a, mpfr_rnd_t rnd);

/* The same, rounded to odd: an inexact result gets an odd last bit. Rounding it again to any precision that is at least
   two bits shorter then gives the exact value rounded once. */
void hu_function_odd(hu_function f, mpfr_ptr r, mpfr_ptr *a);

/* Turns x, which was rounded toward zero with that ternary value, into the value rounded to odd. */
void hu_odd(mpfr_ptr x, int ternary);

/* Rounds x, of any precision, to f by the rules of hu_round, fp64 included. Adds to *notes INEXACT, UNDERFLOW, OVERFLOW
   and INVALID (an infinity that the format has no code for). */
double hu_correct_round(mpfr_srcptr x, hu_format f, hu_mode mode, int flags, uint32_t rand, int *notes);
#endif
