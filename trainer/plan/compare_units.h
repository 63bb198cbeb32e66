/* SPDX-License-Identifier: Apache-2.0
   The runs of compare as units of a work that shards or ranks share (lib/base/parts/share.h). */
#ifndef HU_TRAINER_COMPARE_UNITS_H
#define HU_TRAINER_COMPARE_UNITS_H

#include "lib/base/parts/share.h"
#include "trainer/plan/compare.h"
#include "trainer/run/config.h"

/* c: what runs are made, and what was found of them; dir: the folder of the runs. json: prints no line a run. refused:
   train did not accept the command line of the first run, of which it has said why. */
typedef struct hu_compare_job {
	hu_comparison *c;
	const hu_args *args;
	const char *dir;
	int json, refused, failed;
	double *cost;
	char *text, *folder;
	hu_share_work work;
} hu_compare_job;

/* Makes the runs, or this process's share of them, as hu_share_out does. */
hu_status hu_compare_share(hu_compare_job *j, hu_sharing *s, hu_status st, int *ends);
void hu_compare_job_release(hu_compare_job *j);

/* Returns a line that only processes with the same policies, learning rates, seeds and options have, and the same in
   the files that options name; the caller frees it. A process that merges parts needs no files: it takes their word. */
char *hu_compare_text(const hu_compare_job *j);

/* Returns the folder of run i, DIR/POLICY-seedN or DIR/POLICY-lrX-seedN, i being its place in c->result; the caller
   frees it. */
char *hu_compare_folder(const hu_comparison *c, const char *dir, int i);
/* What train is told as policy p. */
const char *hu_compare_policy(const hu_comparison *c, int p);
/* Returns 1 where the line has a list of learning rates, lr=A,B, each of which has runs. */
int hu_compare_has_rates(const hu_args *a);
/* Makes the configuration of a run under the policy. It records only what was asked for or what the analysis needs. */
hu_status hu_compare_config(hu_config *c, const hu_args *a, const char *policy);
#endif
