/* SPDX-License-Identifier: Apache-2.0
   Two runs before any number: settings, programs call by call, evaluations. */
#ifndef HU_ANALYZERS_RUN_COMPARE_H
#define HU_ANALYZERS_RUN_COMPARE_H

#include "lib/base/str.h"
#include "lib/store/run.h"

typedef struct hu_run_comparison {
	hu_str settings; /* one line for each setting that differs: "lr: 0.001 and 0.002" */
	size_t nsettings;
	hu_str program; /* a line a call or tensor, the first run's first: "train: call 53 …: part 4096 -> 2048" */
	size_t nprogram;
	long long evaluation; /* step behind which the first evaluation differs, -1: none */
	char column[24];      /* what of it, and both values */
	double a, b;
	long long traced; /* a step that is traced in the first run alone, -1: none */
} hu_run_comparison;

/* Compares the two runs. Fails with HU_EFILE, in a sentence, where they train different models, since nothing could be
   compared then. */
hu_status hu_run_compare(hu_run_comparison *c, const hu_run *a, const hu_run *b);
void hu_run_comparison_release(hu_run_comparison *c);
#endif
