/* SPDX-License-Identifier: Apache-2.0
   The numbers of summary.json, which summary.c reads from the other tables, and the sentences made of them. */
#ifndef HU_ANALYZERS_SUMMARY_H
#define HU_ANALYZERS_SUMMARY_H

#include "analyzers/run/analyzer.h"

/* The numbers; NaN where one was not measured. */
typedef struct hu_summary {
	double final_loss, final_accuracy, eval_accuracy, steps, skipped, scale_final;
	double worst_ulp, worst_condition, worst_ratio, over, judged;
	double swamped_share, decay_share; /* of the updates; the second by weight decay alone (update.h) */
	double update_share, update_cosine;
	double zeroed, zeroed_share, grad_share, grad_cosine, v_zeroed_share;
	double safe_min, safe_max;
	int safe_known;
	double need, limit;    /* the largest log2 scale that a tensor needs to survive, and the smallest at which some
			          tensor still does not overflow */
	char need_tensor[80], limit_tensor[80];
	char worst_tensor[80], overflowed_tensor[80];
	double overflowed;     /* number of tensors with an overflowed output; the worst error is then that of the other
			          tensors */
	int rank;              /* rank of the worst verdict */
	int broken;            /* 1 where the last loss is not finite */
	double moment_share, moment_cosine, statistic_share, statistic_cosine;
	int update_nonfinite, grad_nonfinite, moment_nonfinite,
		statistic_nonfinite; /* 1 where infinities or NaN make the verdict fatal, whatever share the rest
				        lost */
	char cause[16];        /* "gradients", "updates", "moments" or "statistics" */
	size_t cause_step;
	int cause_nonfinite;
} hu_summary;

/* Returns the verdict as three sentences, JSON strings: what the format did, what was lost, and the largest rounding
   error. */
json_t *hu_summary_sentences(const hu_analysis *a, const hu_summary *n);
#endif
