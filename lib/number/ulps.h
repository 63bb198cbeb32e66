/* SPDX-License-Identifier: Apache-2.0
   An error in units in the last place, as it is told to a person. */
#ifndef HU_NUMBER_ULPS_H
#define HU_NUMBER_ULPS_H

#include "lib/number/format.h"

/* The most ulps that say how large an error is, 2^p: beyond, it exceeds the exact value itself, which is zero,
   subnormal or what is left where terms cancel, and the number depends on the format's smallest one alone. */
double hu_ulps_most(hu_format f);
/* Writes ULPS of f with DIGITS significant digits into text and returns it; beyond hu_ulps_most "over 2^11". */
const char *hu_ulps_text(char text[32], double ulps, hu_format f, int digits);
#endif
