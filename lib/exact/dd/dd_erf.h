/* SPDX-License-Identifier: Apache-2.0
   The table of the error function's Taylor series, which dd_erf.c and ddw.c share. */
#ifndef HU_EXACT_DD_ERF_H
#define HU_EXACT_DD_ERF_H

#include "lib/exact/dd/dd.h"

/* The series around c = i / HU_DD_ERF_STEPS, i from 0 on, up to HU_DD_ERF_LIMIT, has HU_DD_ERF_TERMS terms, of which
   the first HU_DD_ERF_PAIRS are double-doubles and the others doubles. */
enum { HU_DD_ERF_STEPS = 32, HU_DD_ERF_LIMIT = 10, HU_DD_ERF_PAIRS = 7, HU_DD_ERF_TERMS = 17 };

/* erf(c + d) = erf(c) + slope d (s_0 + s_1 d + s_2 d^2 + ...), where slope = 2/sqrt(pi) exp(-c^2). off bounds what the
   doubles beyond the pairs lose to roundings, and omitted what is left out behind the last term. All members are
   doubles, which ddw_elementary.inc counts on. */
typedef struct hu_dd_erf_centre {
	hu_dd value, slope, s[HU_DD_ERF_PAIRS];
	double rest[HU_DD_ERF_TERMS - HU_DD_ERF_PAIRS], off, omitted;
} hu_dd_erf_centre;

/* Returns the table; the first call computes it. */
const hu_dd_erf_centre *hu_dd_erf_table(void);
#endif
