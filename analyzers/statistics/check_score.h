/* SPDX-License-Identifier: Apache-2.0
   check of what whole trainings are worth: its two halves, and what they print. */
#ifndef HU_ANALYZERS_CHECK_SCORE_H
#define HU_ANALYZERS_CHECK_SCORE_H

#include "lib/base/console/opt.h"

/* check RUN... --bless --score NAME: blesses the scores of the RUNs. Return the exit code. */
int hu_score_bless(const hu_args *a);
/* check RUN... against a baseline of scores, in FORMAT (json or one of the outcomes' writers). */
int hu_score_check(const hu_args *a, const char *format);
#endif
