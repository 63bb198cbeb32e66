/* SPDX-License-Identifier: Apache-2.0
   Several policies, at several learning rates, over several seeds: the results of each run, and the table of them
   all. A row of that table is a policy at a rate; row p * rates + l has policy p and rate l. */
#ifndef HU_TRAINER_COMPARE_H
#define HU_TRAINER_COMPARE_H

#include "lib/base/status.h"

/* The results of a run, in the order of hu_result_name. */
enum {
	HU_RESULT_ACCURACY,
	HU_RESULT_PRECISION,
	HU_RESULT_RECALL,
	HU_RESULT_DICE,
	HU_RESULT_IOU,
	HU_RESULT_HIT_RATE,
	HU_RESULT_NDCG,
	HU_RESULT_EVAL_LOSS,
	HU_RESULT_MS,
	HU_RESULT_BYTES,
	HU_RESULT_SWAMPED,
	HU_RESULT_UNDERFLOWED,
	HU_RESULT_JUDGED,
	HU_RESULTS
};

/* The results of one run; NaN where one was not measured. */
typedef struct hu_compare_result {
	char *dir;
	double v[HU_RESULTS];
	int train, analyze; /* exit codes, 0 where nothing failed; a failed training has no results, a failed analysis
			       no shares */
} hu_compare_result;

/* The name of result k: accuracy precision recall dice iou hit_rate ndcg eval_loss ms_a_step bytes swamped_share
   underflowed_share judged_share, the last of the update's norm in the least seen step. */
const char *hu_result_name(int k);

/* Reads a finished run: its last evaluation, the mean milliseconds of a step without the first, memory from the
   manifest, and the three shares from analysis/summary.json where that exists. */
hu_status hu_result_read(hu_compare_result *r, const char *dir);

/* Returns 1 where a run has result k: its training succeeded and, for the shares, its analysis finished, whatever it
   found. */
int hu_result_gave(const hu_compare_result *r, int k);

/* What is printed of a model: the score that counts, and two beside it. */
enum { HU_SCORES = 3 };
typedef struct hu_compare_scores {
	int k[HU_SCORES];
	const char *title[HU_SCORES];
} hu_compare_scores;
/* Returns those of the run's model; accuracy and its like where r is NULL. */
const hu_compare_scores *hu_compare_scores_of(const hu_compare_result *r);

/* Returns the name of the score that counts for the run's model, and sets *score to it: hit rate, where candidates are
   ranked; Dice, where pixels have classes; else accuracy. */
const char *hu_compare_score(const hu_compare_result *r, double *score);

typedef struct hu_comparison {
	char **policy; /* as the tables name them */
	char **text;   /* as train is told them; NULL: the same */
	char **rate;   /* learning rates as they were given; NULL: that of the options, and rates is 1 */
	int policies, rates, seeds;
	long long *seed;
	hu_compare_result *result; /* [policies][rates][seeds] */
} hu_comparison;

int hu_comparison_rows(const hu_comparison *c);
/* The learning rate of a row, "-" where no list of them was given. */
const char *hu_comparison_rate(const hu_comparison *c, int row);

/* Sets *mean to the mean of result k of a row over the seeds whose runs have it, and *error to the standard error of
   that mean (NaN for one seed). Where paired is 1, the mean is that of the differences to the first policy at the same
   learning rate and seed. NaN where no run has it. */
void hu_comparison_mean(const hu_comparison *c, int row, int k, int paired, double *mean, double *error);

/* Writes how the run failed, "train 3" or "analyze 4" with the exit code, into `text` of 24 bytes; "-" where it did
   not. Exit 1 of an analysis, an output outside its error bound, counts too. */
const char *hu_result_failure(const hu_compare_result *r, char *text);
/* Returns how many runs of a row failed and sets *code, unless NULL, to their largest exit code. */
int hu_comparison_failed(const hu_comparison *c, int row, int *code);

/* Splits policies at commas, as in "a,b,key=value,c"; key=value belongs to the policy before it, except compute=, which
   starts a new one. Returns how many; the caller frees strings and array. */
int hu_split_policies(const char *text, char ***out);
#endif
