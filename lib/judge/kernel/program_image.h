/* SPDX-License-Identifier: Apache-2.0
   Calls of programs on images, which have their channels last, as rows of a kernel's graph, which have them first. */
#ifndef HU_JUDGE_KERNEL_PROGRAM_IMAGE_H
#define HU_JUDGE_KERNEL_PROGRAM_IMAGE_H

#include "lib/judge/kernel/graph.h"
#include "lib/program/program.h"

/* Runs a row of one operand or two; window is its key `window`, or "" for none. */
typedef hu_status hu_program_row(const void *run, const char *row, const char *window, size_t groups,
	const size_t step[4], const hu_balls *in, int nin, hu_balls *y);

/* 1 if the operator is one of those below. */
int hu_program_is_image(const char *op);
/* conv2d, maxpool, avgpool2d: padding becomes elements, so that it may differ from side to side. in is the call's
   operands, and x the shape of the first one. HU_EUNABLE for a product that is scaled or a part of one. */
hu_status hu_program_image(
	const hu_call *c, hu_shape x, const hu_balls *in, hu_balls *y, hu_program_row *row, const void *run);
#endif
