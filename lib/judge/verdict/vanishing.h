/* SPDX-License-Identifier: Apache-2.0
   Results that are positive and smaller than every double, as the shares of masked scores are. Enclosures cannot tell
   them from 0, and MPFR would sum a row of exponentials for each row to say no more. */
#ifndef HU_JUDGE_VANISHING_H
#define HU_JUDGE_VANISHING_H

#include "lib/judge/verdict/ziv.h"
#include "lib/op/op.h"

/* Where the exact element of output out, of operands without trailing parts, certainly lies between 0 and 2^-2900, both
   excluded, this sets v to the verdict on a recorded 0 with a positive bound, which is that of hu_ziv_mpfr, and returns
   1. It returns 0 also where that is not known, which includes every operator but those of vanishing.c's table. */
int hu_ziv_vanishing(hu_ziv *v, const hu_call *c, hu_tensor *const *in, int out, size_t element);
#endif
