/* SPDX-License-Identifier: Apache-2.0
   A program as a kernel's graph: its casts and the formats of its tensors are the stores. */
#ifndef HU_JUDGE_KERNEL_PROGRAM_H
#define HU_JUDGE_KERNEL_PROGRAM_H

#include "lib/judge/kernel/graph.h"
#include "lib/program/program.h"

/* Runs a program on balls, as hu_graph_run does with a graph: value has an array for each tensor, of which those that
   no call computes are filled. HU_EUNABLE names an operator that has no radius. */
hu_status hu_program_balls(const hu_program *p, const hu_facts *facts, hu_stores stores, hu_balls *value,
	const char *keep, const hu_balls *given);
#endif
