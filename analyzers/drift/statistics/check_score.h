/* SPDX-License-Identifier: Apache-2.0
   check of what whole trainings are worth: its two halves, and what they print. */
#ifndef HU_ANALYZERS_CHECK_SCORE_H
#define HU_ANALYZERS_CHECK_SCORE_H

#include "lib/base/console/opt.h"

/* Records the score --score of A's RUNs in the file PATH, with --reason. Both return the exit code. */
int hu_score_record(const hu_args *a, const char *path);
/* check RUN... against a baseline of scores, in FORMAT (json or one of the outcomes' writers). */
int hu_score_check(const hu_args *a, const char *format);
#endif
