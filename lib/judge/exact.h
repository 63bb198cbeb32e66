/* SPDX-License-Identifier: Apache-2.0
   Exact values of a whole output as doubles, for analyzers that need the numbers and no verdicts. */
#ifndef HU_ANALYZERS_EXACT_H
#define HU_ANALYZERS_EXACT_H

#include "lib/judge/judge.h"

/* V[i] = exact value of element i of output OUT, to nearest; or, where MINUS is not NULL, exact value - MINUS[i],
   rounded away from zero, so that what is not 0 stays so. N elements from the first on. By enclosures
   where they decide, else (and always under an engine without enclosures) by the reference. Of the former, one of each
   call and one in 65536, drawn by the call's number, are found by the reference as well: HU_EUNABLE where the two
   differ. LADDER: counts them, exact staying 0. */
hu_status hu_exact_doubles(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, size_t n, hu_ladder *ladder);
#endif
