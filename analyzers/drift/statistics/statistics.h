/* SPDX-License-Identifier: Apache-2.0
   A baseline for what may legitimately differ: n seeds, each trained twice, the second time with another order of its
   sums. Between seeds the aggregates spread by s, between the two orders by τ. A candidate trains baseline seeds again.
 */
#ifndef HU_ANALYZERS_STATISTICS_H
#define HU_ANALYZERS_STATISTICS_H

#include "analyzers/drift/outcome/outcome.h"
#include "analyzers/drift/statistics/aggregates.h"
#include "analyzers/drift/statistics/seeds.h"

enum { HU_STATISTICS_VERSION = 2 };

typedef struct hu_statistic {
	char name[48];
	hu_aggregate_kind kind;
	int better;              /* as in hu_aggregate */
	double value[HU_SEEDS];  /* of the baseline run of each seed */
	double repeat[HU_SEEDS]; /* of the same seed with the other order of sums */
	double s, tau;           /* s with the floor of its kind in quadrature */
} hu_statistic;

typedef struct hu_statistics {
	hu_statistic q[HU_AGGREGATES];
	int n;            /* quantities */
	hu_seeds by;      /* the baseline seeds */
	double evaluated; /* samples of an evaluation; of recording alone */
} hu_statistics;

/* From RUNS: for each seed the first run is recorded, the second, which must sum in another order, its repeat. At least
   3 seeds, and HU_EINVAL says what is missing. */
hu_status hu_statistics_make(hu_statistics *s, char *const *run, int runs);
hu_status hu_statistics_write(const hu_statistics *s, const char *path, const char *reason);
hu_status hu_statistics_read(hu_statistics *s, const char *path);
hu_status hu_statistics_parse(hu_statistics *s, const char *name, char *data, size_t n);
void hu_statistics_release(hu_statistics *s);

/* How far K paired candidates may move Q. */
double hu_statistics_allowed(const hu_statistics *s, const hu_statistic *q, int k);
/* What S cannot see, in sentences: what did not happen in the baseline runs, and what moves a training less than chance
   does. */
void hu_statistics_unseen(hu_str *text, const hu_statistics *s);

/* RUNS against S: exact quantities first, then with α = 0.5 % over all q quantities. A run whose seed the baseline
   has and whose first loss is the baseline's to 2e-3 is a pair; where all are, red is
     |mean difference| > w·s/2 + t(n; 1 - .005/q)·τ/√k,  w = sqrt((n - 1)/χ²(n - 1; 0.1)),
   w·s being the most that the spread is with 90 %; of errors and shares
     (mean difference) > w·s/2 + t(n; 1 - .01/q)·τ/√k + ln 1.35; else, unpaired,
     |difference of means| > t(n + k - 2; 1 - .0025/q)·s·√(1/n + 1/k), n - 1 degrees for k = 1,
   s being that of both groups, and (.005/q) + ln 1.35 for errors and shares. Unpaired runs may skip one step more or
   less than the baseline ones, and end with a loss scale half or twice theirs: where a seed overflows is chance. */
hu_status hu_statistics_judge(hu_outcomes *o, const hu_statistics *s, char *const *run, int runs);
#endif
