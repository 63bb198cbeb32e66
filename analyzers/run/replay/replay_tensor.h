/* SPDX-License-Identifier: Apache-2.0
   What the analyzer replay finds of one output of a call, or of a tile of it. */
#ifndef HU_ANALYZERS_REPLAY_TENSOR_H
#define HU_ANALYZERS_REPLAY_TENSOR_H

#include "analyzers/run/analyzer.h"
#include "analyzers/run/faults.h"
#include "lib/judge/parts/bias_sum.h"
#include "lib/judge/parts/packs.h"

typedef struct hu_replay_tensor {
	const hu_analysis *a;
	const hu_trace *t;
	int id;
	size_t n;     /* judged elements of the whole output; 0: nothing is judged */
	size_t taken; /* those that came so far */
	hu_errors_sum sum;
	hu_bias_sum bias;
	hu_faults all;
	hu_tsv each;
	const hu_judge_job *job;
	hu_judged *kept; /* gets the verdicts of this unit for another analyzer; NULL: nobody asks for them */
} hu_replay_tensor;

/* The columns of the rows that each judged element has. */
#define HU_REPLAY_EACH "step call tensor element got exact_hex error_ulps"

/* Prepares x for tensor id. */
void hu_replay_tensor_init(hu_replay_tensor *x, const hu_analysis *a, const hu_trace *t, int id);
void hu_replay_tensor_release(hu_replay_tensor *x);
/* Judges what the unit covers of the output: into arrays that are kept where others will ask for them or every element
   gets a row, else piece by piece. A failure's reason names the step and the tensor. */
hu_status hu_replay_tensor_judge(hu_replay_tensor *x, hu_analysis *a, hu_trace *t, const hu_work_unit *u,
	hu_memo **memo, hu_methods *methods);
/* Writes what was found to the record. */
void hu_replay_tensor_pack(hu_pack *r, hu_replay_tensor *x);
#endif
