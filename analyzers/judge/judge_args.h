/* SPDX-License-Identifier: Apache-2.0
   The command line of judge: the kernel, its arrays and its declared facts. */
#ifndef HU_ANALYZERS_JUDGE_ARGS_H
#define HU_ANALYZERS_JUDGE_ARGS_H

#include "analyzers/judge/kernel_job.h"

/* Calls each(of, word) for the words of a text, which blanks separate. */
hu_status hu_judge_words(const char *text, hu_status (*each)(void *of, const char *word), void *of);
/* Declares KEY=VALUE or KEY>=VALUE for the job; HU_EINVAL names the keys that there are. */
hu_status hu_judge_declare(void *job, const char *word);
#endif
