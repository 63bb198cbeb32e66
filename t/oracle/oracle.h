/* SPDX-License-Identifier: Apache-2.0
   What a rounding must give, by MPFR: the two neighbours of an exact value in a format
   (MPFR's own rounding toward and away from zero, with the format's exponents and
   mpfr_subnormalize) and where between them it lies; from that any mode, any flags and
   any specials, written out apart from lib/number/round.h. */
#ifndef HU_T_ORACLE_H
#define HU_T_ORACLE_H

#include "lib/number/round.h"

#include <mpfr.h>

typedef struct oracle {
	int regular;        /* finite and not zero */
	double low, high;   /* magnitudes; equal where the value is in the format; maybe beyond its largest, or infinite
			       for fp64's */
	double x;           /* the value if it is not finite or zero, else a double of its sign */
	int middle;         /* sign of |value| - (low + high) / 2 */
	int even;           /* low counts as even */
	int tiny;           /* |value| below the smallest normal number */
	double fraction;    /* floor(2^32 (|value| - low) / (high - low)) */
} oracle;

/* X of at most 400 bits. Formats with p <= 52, and fp64. */
void oracle_look(oracle *o, mpfr_srcptr x, hu_format f);
void oracle_look_d(oracle *o, double x, hu_format f);

/* As hu_round_full. */
hu_rounded oracle_round(const oracle *o, hu_format f, hu_mode mode, int flags, uint32_t rand);

/* Whether a and b are the same result: bits of the value (any NaN), ternary sign, flags. */
int oracle_agrees(hu_rounded a, hu_rounded b);

/* After mpfr_OP(y, ..., MPFR_RNDZ) = t: y with its last bit set where anything was lost, so that it lies between
   the same neighbours; and beyond 2^4000 or below 2^-4000 brought there. */
void oracle_odd(mpfr_t y, int t);
#endif
