/* SPDX-License-Identifier: Apache-2.0
   The command line of judge: the kernel, its arrays and its declared facts. */
#ifndef HU_ANALYZERS_JUDGE_ARGS_H
#define HU_ANALYZERS_JUDGE_ARGS_H

#include "analyzers/judge/kernel/kernel_job.h"

/* Calls each(of, word) for the words of a text, which blanks separate. */
hu_status hu_judge_words(const char *text, hu_status (*each)(void *of, const char *word), void *of);
/* Reads a model of ONNX or a program's JSON as the job's graph, and the arrays of --data and of an archive of results.
   program_args.c. */
int hu_kernel_is_program(const char *name);
/* The graph's value of that name, a model's operand or result first: several of its results may be one value, and a
   result may be an operand as it stands (hu_kernel_is_passed_on). -1 where there is none. */
int hu_kernel_value(const hu_kernel_job *j, const char *name, int operands);
int hu_kernel_is_passed_on(const hu_kernel_job *j, int id);
hu_status hu_kernel_program(hu_kernel_job *j, const char *path, const hu_args *args);
/* Declares KEY=VALUE or KEY>=VALUE for the job; HU_EINVAL names the keys that there are. */
hu_status hu_judge_declare(void *job, const char *word);
#endif
