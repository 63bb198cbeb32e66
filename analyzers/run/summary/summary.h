/* SPDX-License-Identifier: Apache-2.0
   The numbers of summary.json, which summary.c reads from the other tables, and the sentences made of them. */
#ifndef HU_ANALYZERS_SUMMARY_H
#define HU_ANALYZERS_SUMMARY_H

#include "analyzers/run/analyzer.h"

/* The verdict on the expected gradient or update of a step: its rank, the share of elements that were 0 in every draw,
   and the cosine. */
typedef struct hu_expected_row {
	size_t step;
	int update, rank;
	double zero, cosine;
	int written; /* weights are rounded stochastically: zero is the share that the expected update lacks */
} hu_expected_row;

/* The numbers; NaN where one was not measured. */
typedef struct hu_summary {
	double final_loss, final_accuracy, eval_accuracy, steps, skipped, scale_final;
	double worst_ulp, worst_condition, worst_ulp_ratio, worst_ratio, over, judged;
	double biased, bias_t; /* how many tensors' errors have one direction, and the largest T */
	double swamped_share, decay_share; /* of the updates; the second by weight decay alone (update.h) */
	double update_share, update_cosine;
	double zeroed, zeroed_share, grad_share, grad_cosine, v_zeroed_share;
	double v_swamped_share; /* of the second moments' updates */
	/* The norm that gradients are clipped to, in how many steps they were, and the least share of their length that
	   was left; NaN where the training clips no norm, or nothing is known of it. */
	double clip_norm, clipped, clip_least;
	double safe_min, safe_max;
	int safe_known;
	double need, limit; /* the largest log2 scale that a tensor needs to survive, and the smallest at which some
			       tensor still does not overflow */
	char need_tensor[80], limit_tensor[80];
	char worst_tensor[80], overflowed_tensor[80];
	int ulp_known; /* 1 where worst_ulp says how large that error is: no exact value of it is zero or next to it */
	double overflowed; /* number of tensors with an overflowed output; the worst error is then that of the other
			      tensors */
	int rank;          /* rank of the worst verdict */
	int broken;        /* 1 where the last loss is not finite */
	double moment_share, moment_cosine, moment_idle, statistic_share, statistic_cosine;
	int update_nonfinite, grad_nonfinite, moment_nonfinite,
		statistic_nonfinite; /* 1 where infinities or NaN make the verdict fatal, whatever share the rest
					lost */
	char cause[16];              /* "gradients", "updates", "moments", "statistics", "weights", "states",
					"next" or "constants" */
	size_t cause_step;
	int cause_nonfinite;
	double weight_share, weight_cosine; /* of the exact step's update */
	double weight_length, verdict_length; /* of the longest update, and of that which is the cause, in exact ones */
	/* of gradients and of weights' updates, as the verdict has them: of expected ones where calls draw */
	double verdict_share, verdict_cosine, verdict_update;
	double verdict_swamped, verdict_swamped_cosine; /* the same of update_share and update_cosine */
	struct hu_expected_of {
		hu_expected_row *row; /* of each step and kind that was drawn most times */
		int n;
		double most, one, cosine, noise, bias; /* draws, and of gradients, each the worst of the steps */
		double one_update, update;             /* cosines of one draw's update and of the expected one */
		int written;                           /* weights are rounded stochastically */
	} draws;
	double state_share; /* of the exact step's update of states that no other analyzer judges */
	double next_cosine, next_dead; /* where the step behind is the cause: its cosine, and how many of its elements
					  are not finite that should be */
	double bits_share;  /* of the weights without an exact update whose gradient is not 0, those that kept their
			       bits, where that is the cause */
	int weight_nonfinite;
	struct hu_seen {
		int known;                      /* 1 where coverage was measured */
		double calls, judged;           /* of all steps */
		double steps, skipped, unmoved; /* steps in all, skipped, and others without an update of a weight */
		double weights, weights_judged, elements, gradients_judged, updates_judged; /* of the least seen step */
		double share;                /* of the update's L2 norm in the least seen step; NaN: none moved */
		double silent, pulled, kept; /* of all steps: weights.c */
		double left_out;             /* calls of all steps that the recorder did not keep */
		double choices, otherwise;   /* of all steps: taken as recorded, and made otherwise by exact values */
		double reads, apart;         /* of all steps: tensors read before an update, those that may differ */
		size_t step;
		json_t *by_step, *operators; /* arrays of summary.json */
	} seen;
	int still;                   /* 1 where no weight moved, and none should have, although they have gradients */
	int eps_zero;                /* 1 where an optimizer's epsilon is 0 in the format that it is added in */
	int moments_finer;           /* 1 where every optimizer computes its step before it rounds its moments */
	int origin_known;            /* 1 where the analyzer nonfinite ran */
	json_t *origin, *nan_origin; /* the rows of nonfinite.tsv on the first step that has one; NULL: none */
} hu_summary;

/* Reads stochastic.tsv; hu_summary_expected is its row of a step, NULL where there is none. */
hu_status hu_summary_read_draws(const hu_run *r, hu_summary *n);
const hu_expected_row *hu_summary_expected(const hu_summary *n, double step, int update);
/* Says what is noise and what is bias; nothing where no call draws. */
void hu_summary_say_draws(hu_str *s, const hu_summary *n);

/* Reads nonfinite.tsv. */
hu_status hu_summary_read_origin(const hu_run *r, hu_summary *n);
/* Says where the first number that is not finite came from; returns 0 where no traced step tells. */
int hu_summary_say_origin(hu_str *s, const hu_summary *n);
/* The array "remedies" of summary.json: of each cause what helps, and a command that shows it at work. */
json_t *hu_summary_remedies(const hu_analysis *a, const hu_summary *n);

/* Reads of metrics.tsv what clipping by the norm did in all steps. */
hu_status hu_summary_read_clipping(const hu_run *r, hu_summary *n);
/* Says what clipping did, and how many of the second moments' own updates were swamped; nothing where none was. */
void hu_summary_say_apart(hu_str *s, const hu_summary *n);

/* Reads weights.tsv, coverage.tsv and unjudged.tsv; hu_summary_release frees what it made. */
hu_status hu_summary_read_seen(const hu_run *r, hu_summary *n);
void hu_summary_release(hu_summary *n);
/* Returns 1 where enough was seen for an all-clear: at least 99 % of the update's L2 norm in every traced step. */
int hu_summary_saw_enough(const hu_summary *n);
/* Returns 1 where no gradient was recorded and updates were judged: trainings by evolution or by differences have no
   other verdict than that on their updates. */
int hu_summary_without_gradients(const hu_summary *n);
/* The object "coverage" of summary.json, and the sentence on it. */
json_t *hu_summary_coverage(const hu_summary *n);
void hu_summary_say_coverage(hu_str *s, const hu_summary *n);

/* Judges a run in which no weight moved, and says why that is fatal. */
void hu_summary_judge_still(const hu_run *r, hu_summary *n);
void hu_summary_say_still(hu_str *s, const hu_run *r, const hu_summary *n);

/* Says what stored states do to the next step, where that costs. */
void hu_summary_say_next(hu_str *s, const hu_summary *n);

/* Reads a table of analysis/, which has to be whole and of this run; *there is 0 where it was not made. */
hu_status hu_summary_table(const hu_run *r, const char *name, hu_table *t, int *there);
/* The run's word, and the object of summary.json. */
const char *hu_summary_word(const hu_summary *n);
json_t *hu_summary_json(const hu_analysis *a, const hu_summary *n);
/* A number, whole where it is one, null where it is not finite. */
json_t *hu_summary_number(double x);

/* Returns the verdict as three sentences, JSON strings: what the format did, what was lost, and the largest rounding
   error. */
json_t *hu_summary_sentences(const hu_analysis *a, const hu_summary *n);
#endif
