/* SPDX-License-Identifier: Apache-2.0
   The programs of a run as quantities of a baseline: program/train/conv1.y, the call that makes conv1.y, with all of
   its attributes. */
#ifndef HU_ANALYZERS_BASELINE_PROGRAM_H
#define HU_ANALYZERS_BASELINE_PROGRAM_H

#include "analyzers/drift/baseline/drift.h"
#include "lib/base/str.h"

/* Adds a row a call, and one a tensor that no call makes. */
void hu_baseline_collect_programs(hu_baseline *b, const hu_run *r);

/* Whether a quantity is such a row. */
int hu_is_program_row(const char *key);
/* The row of the call of the training's program that makes TENSOR, first or among others; its text is "matmul
   dense1 … dense1.xw=fp16[32,64] …". NULL where none does. */
const hu_baseline_quantity *hu_program_row_of(const hu_baseline *b, const char *tensor);
/* The format of a tensor that a call of the training's program makes; HU_NO_FORMAT where none does. */
hu_format_id hu_program_row_format(const hu_baseline *b, const char *tensor);
/* What of such a row is another: "call 53 conv2d_dw conv1: part 4096 -> 2048", without the number where the run has not
   that call. Freed by the caller. */
char *hu_program_row_change(const hu_finding *f);
/* A sentence a reason why rows of one of the two have no counterpart: a step that was traced in the baseline alone, an
   exercise that the run does not have. RUN is the run's folder, where its traces say whether a step was not traced or
   only not analyzed; NULL: there is none. Added to S, each in a line. */
void hu_missing_steps(hu_str *s, const hu_baseline *want, const hu_baseline *got, const char *run);
#endif
