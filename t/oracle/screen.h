/* SPDX-License-Identifier: Apache-2.0
   The fp32 elementary functions (lib/number/elementary/elementary.h) judged on runs of neighbouring floats.
   Each is monotone, sin and cos up to 1.5, so that between two floats with the same correctly rounded result
   (MPFR) all others have it too. Where results differ, double-double (t/oracle/dd-elementary.h,
   error at most 2^-80) screens, and MPFR judges what that leaves open. Call dd_constants_init first. */
#ifndef HU_T_SCREEN_H
#define HU_T_SCREEN_H

#include <stdint.h>

enum { SCREEN_CHUNK = 1 << 16 };

typedef struct screen_tally {
	long long constant, screened, judged; /* how many results by monotony, by double-double, by MPFR */
	long long misrounded;                 /* results that are not the nearest float */
	long long wrong;                      /* off by more than 0.51 ulp, or by the wrong special value */
	double worst;                         /* largest error in ulps of fp32, within 2^-50 */
	uint32_t at;                          /* bits of a float in its block */
} screen_tally;

int screen_functions(void);
const char *screen_name(int i);

/* Adds to *t the SCREEN_CHUNK floats from the bits FIRST, a multiple of SCREEN_CHUNK, on. Any thread. */
void screen_chunk(int i, uint32_t first, screen_tally *t);
/* Whether the function of -x is that of x, or its negative. Then screen_chunk of positive floats looks at the negative
   ones too, whose results are wrong where they are not such: all else of them is found out of the positive ones. */
int screen_mirrors(int i);
void screen_add(screen_tally *all, const screen_tally *t);
#endif
