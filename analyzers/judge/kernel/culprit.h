/* SPDX-License-Identifier: Apache-2.0
   What a result looks like that is not right: which mistake gives its values, which node of the graph its error
   follows, and which declared fact would have to be another one. */
#ifndef HU_ANALYZERS_CULPRIT_H
#define HU_ANALYZERS_CULPRIT_H

#include "analyzers/judge/kernel/kernel_job.h"

/* Fills the result's as_if and right_if where something is found. x are the balls of the declared graph. */
hu_status hu_kernel_culprit(const hu_kernel_job *j, hu_judge_result *r, const hu_balls *x);
/* layout.c: mistakes that show in the result alone, such as zeros or exchanged rows. Returns 1 where one was found. */
int hu_kernel_layout(hu_judge_result *r, const hu_balls *x);
/* tangents.c: sets as_if to the node of the graph, and its factor, by which the error is explained, if there is one. */
hu_status hu_kernel_tangents(const hu_kernel_job *j, hu_judge_result *r, const hu_balls *x);
/* narrower.c: sets `narrower` and `gain` of a right result whose errors are far below those of the declared roundings,
   where facts declared narrower make it right too. */
hu_status hu_kernel_narrower(const hu_kernel_job *j, hu_judge_result *r);
#endif
