/* SPDX-License-Identifier: Apache-2.0
   A whole training as some tens of numbers whose spread over seeds is near a normal one: logarithms and logits of
   means, medians and norms. Raw rows are not like that: among thousands of them some are always far out. */
#ifndef HU_ANALYZERS_AGGREGATES_H
#define HU_ANALYZERS_AGGREGATES_H

#include "lib/store/run.h"

/* What a number is of, which says how little it may move at least and whether it may shrink. */
typedef enum hu_aggregate_kind {
	HU_AGGREGATE_LOSS, /* losses, and the logit of the accuracy */
	HU_AGGREGATE_NORM, /* norms of gradients, weights, moments */
	HU_AGGREGATE_ERROR, /* ‖error‖/‖magnitude‖ of calls, each judged element counting once; of products also the
			       99th percentile in ulps, the median over calls: may shrink */
	HU_AGGREGATE_SHARE, /* the share of updates that were swamped: may shrink */
	HU_AGGREGATE_EXACT, /* compared as it is: skipped steps, last loss scale, outputs over their bound, … */
	HU_AGGREGATE_START, /* the loss of the first step: whether two runs are a pair */
	HU_AGGREGATE_KINDS
} hu_aggregate_kind;

typedef struct hu_aggregate {
	const char *name;
	hu_aggregate_kind kind;
	int better;
	double value;
} hu_aggregate;

enum { HU_AGGREGATES = 32 };

typedef struct hu_aggregates {
	hu_aggregate a[HU_AGGREGATES];
	int n;
	long long seed;
	double evaluated; /* samples of an evaluation */
	char accumulate[96];
} hu_aggregates;

/* Computes the aggregates of a run that is finished and was analyzed. A value that the run does not have is NaN.
   `better` is 1 where more is better, -1 where less is, and 0 where neither is. */
hu_status hu_aggregates_collect(hu_aggregates *s, const hu_run *r);
const char *hu_aggregate_kind_name(hu_aggregate_kind k);
/* The least standard deviation that a quantity is given, of the logarithm: what printing and rounding alone may do; of
   eval_accuracy/last, whose logit is on average MEAN, one of EVALUATED samples more or less that is right, and where
   the runs are not PAIRED the binomial's sqrt(EVALUATED p (1 - p)) samples: seeds may share every decision until one
   of them does not, so that a few of them have no spread to tell. */
double hu_aggregate_floor(const char *name, hu_aggregate_kind k, double mean, double evaluated, int paired);
#endif
