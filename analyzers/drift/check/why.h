/* SPDX-License-Identifier: Apache-2.0
   Why a check failed, in one line: the first place that moved, how far, and the most likely cause with what supports
   it. What every quantity did stands in the list behind that line. */
#ifndef HU_ANALYZERS_WHY_H
#define HU_ANALYZERS_WHY_H

#include "analyzers/drift/baseline/place.h"
#include "analyzers/drift/check/check_out.h"
#include "lib/base/str.h"

/* "step 20, call 14 matmul dense1 (dense1.xw): ulp_max 0.5 -> 0.61 (+22 %, 0.11 ulps of fp16); … most likely cause:
   …" for a report whose findings stand worst first. The first place is the earliest traced step's first call that
   failed, else the earliest step. NULL where nothing failed. The caller frees it. */
char *hu_check_why(const hu_check_report *r);

/* The earliest step that leaves another state, by the digests of the baseline; -1 where there is none. */
long long hu_check_first_other(const hu_check_report *r);

/* Appends the cause that the two baselines support best. FIRST is the earliest quantity with a step that failed, or
   NULL. The order is that of how much a difference explains: input data, seed, other settings, the program, how it was
   analyzed, what step 0 began with, version and machine; where none of these differs it is the arithmetic of a call. */
void hu_check_cause(hu_str *s, const hu_check_report *r, const hu_place *first);
#endif
