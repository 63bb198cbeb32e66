/* SPDX-License-Identifier: Apache-2.0
   Several policies over several seeds: what each run gave, and the table they join in. */
#ifndef HU_TRAINER_COMPARE_H
#define HU_TRAINER_COMPARE_H

#include "lib/base/status.h"

#include <jansson.h>
#include <stdio.h>

enum { HU_RESULTS = 8 };

/* What one run gave; NaN where it was not measured. */
typedef struct hu_compare_result {
	char *dir;
	double v[HU_RESULTS];    /* in the order of hu_result_name */
	int train, analyze; /* exit codes, 0 where nothing failed: of a training that failed there are no numbers, of an
			       analysis no shares */
} hu_compare_result;

/* accuracy precision recall eval_loss ms_a_step bytes swamped_share underflowed_share */
const char *hu_result_name(int k);

/* Reads a finished run: its last evaluation, the mean milliseconds of a step but the first, memory
   from the manifest, and the two shares from analysis/summary.json where that is. */
hu_status hu_result_read(hu_compare_result *r, const char *dir);

typedef struct hu_comparison {
	char **policy;
	int policies, seeds;
	long long *seed;
	hu_compare_result *result;       /* [policies][seeds] */
} hu_comparison;

/* Mean of column k of policy p over the seeds whose runs gave it, and the mean's standard error (NaN for one seed).
   paired: of the differences to the first policy at the same seed. NaN where no run gave it. */
void hu_comparison_mean(const hu_comparison *c, int p, int k, int paired, double *mean, double *error);

/* What the run's failure was, "train 3" or "analyze 4" with the exit code, into `text` of 24 bytes; "-" for none.
   Analysis exits 1 where it judged and an output left its bound: that is told too. */
const char *hu_result_failure(const hu_compare_result *r, char *text);
/* The runs that failed; the largest exit code of them in *code, which may be NULL. */
int hu_comparison_failed(const hu_comparison *c, int p, int *code);

/* DIR/compare.tsv, a row a policy, and DIR/compare-runs.tsv, a row a run. */
hu_status hu_comparison_write(const hu_comparison *c, const char *dir);
json_t *hu_comparison_to_json(const hu_comparison *c);
void hu_comparison_print(const hu_comparison *c, FILE *f);

/* "a,b,key=value,c": policies separated by commas; key=value belongs to the policy before it, except
   compute=, which starts one. Strings and array freed by the caller. */
int hu_split_policies(const char *text, char ***out);
#endif
