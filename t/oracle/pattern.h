/* SPDX-License-Identifier: Apache-2.0
   Rounding of floats by their 32-bit patterns, in integers alone: the two neighbouring patterns of
   the format's grid and the distances to them, which are differences of patterns, as
   floats of one binade are equally spaced. The independent oracle of t/number/x-number-round.c:
   no significand is formed, nothing is shifted out, nothing is shared with lib/number/round.h. */
#ifndef HU_T_PATTERN_H
#define HU_T_PATTERN_H

#include "lib/number/format.h"

/* A format of at most 24 significant bits whose values are floats. */
typedef struct pattern_format {
	int p, emin;
	uint32_t max,
		least; /* patterns of the largest and, where there is no zero, the smallest value; else least is 0 */
	uint32_t over[HU_MODES][2];       /* what is beyond max becomes, by mode and sign */
	uint32_t inf[2], nan, minus_zero, no_negatives;
} pattern_format;

void pattern_format_of(pattern_format *p, hu_format f);

/* WANT[k]: what the float with the bits FIRST + k becomes, k < N. All of one sign and one binade, or all
   below 2^-126, or none finite. RANDOM[k]: its draw, for the modes that draw. */
void pattern_round(
	uint32_t *want, uint32_t first, int n, const pattern_format *p, hu_mode mode, const uint32_t *random);
#endif
