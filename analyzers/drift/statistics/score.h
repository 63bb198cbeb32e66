/* SPDX-License-Identifier: Apache-2.0
   What whole trainings are worth: the score of their last evaluation, recorded for n seeds, and a one-sided test of
   whether k candidates have a lower one. */
#ifndef HU_ANALYZERS_SCORE_H
#define HU_ANALYZERS_SCORE_H

#include "analyzers/drift/statistics/seeds.h"

enum { HU_SCORE_VERSION = 1 };

/* How often the test is red where nothing changed, and how often it has to be where a drop is called detected. */
#define HU_SCORE_ALPHA 0.01
#define HU_SCORE_POWER 0.90

typedef struct hu_scores {
	char column[32]; /* of metrics.tsv: eval_accuracy, eval_dice, … */
	int better;      /* 1 where more is better, -1 for eval_loss */
	hu_seeds by;
	double value[HU_SEEDS];
} hu_scores;

/* Reads the last evaluation of finished RUNS with a seed each; SCORE is a column with or without its eval_. HU_EINVAL
   for a column that is no score, for one that the runs do not have, and for a seed that comes twice. */
hu_status hu_scores_collect(hu_scores *s, const char *score, char *const *run, int runs);
/* HU_EINVAL where fewer than 3 were collected, or all are equal, which bounds nothing. */
hu_status hu_scores_serve(const hu_scores *s);
hu_status hu_scores_write(const hu_scores *s, const char *path, const char *reason);
/* HU_EFILE where the file is not what was written: version, seeds, numbers, checksum. */
hu_status hu_scores_read(hu_scores *s, const char *path);
/* The same from n bytes of malloc's that a zero follows, which it frees. NAME stands for the file in messages. */
hu_status hu_scores_parse(hu_scores *s, const char *name, char *data, size_t n);
void hu_scores_release(hu_scores *s);

/* One-sided Student test with pooled variance of the means, at HU_SCORE_ALPHA. OLYMPIC: of the means without the least
   and the largest value of each side, with the winsorized sums of squares of Yuen and Dixon (Biometrika 60, 1973). */
typedef struct hu_score_test {
	double was, is;  /* the two means */
	double error;    /* the standard error of their difference */
	double t, limit; /* the drop over that, and above which one it is red */
	int degrees;
	double allowed, detected; /* drops: what is allowed, and what is detected with HU_SCORE_POWER */
} hu_score_test;

/* HU_EINVAL where a side has too few runs: 2 degrees of freedom are needed, with OLYMPIC 4 runs on each side; and where
   no run differs from another. */
hu_status hu_score_judge(hu_score_test *t, const hu_scores *old, const hu_scores *new, int olympic);
/* The drop that K candidates against the runs of S detect with HU_SCORE_POWER, both spreading as S does. */
double hu_score_detects(const hu_scores *s, int k);
#endif
