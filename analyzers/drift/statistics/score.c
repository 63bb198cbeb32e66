/* SPDX-License-Identifier: Apache-2.0
   From runs to their scores. */
#include "analyzers/drift/statistics/score.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a last evaluation says of a whole training. */
static const struct {
	const char *column;
	int better;
} scores[] = { { "eval_accuracy", 1 }, { "eval_precision", 1 }, { "eval_recall", 1 }, { "eval_dice", 1 },
	{ "eval_iou", 1 }, { "eval_hit_rate", 1 }, { "eval_ndcg", 1 }, { "eval_loss", -1 } };

static hu_status
choose(hu_scores *s, const char *score)
{
	for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
		if (!strcmp(scores[i].column, score) || !strcmp(scores[i].column + 5, score)) {
			snprintf(s->column, sizeof s->column, "%s", scores[i].column);
			s->better = scores[i].better;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL,
		"--score %s: accuracy, precision, recall, dice, iou, hit_rate, ndcg or loss is needed", score);
}

/* The column's last cell that is measured. */
static hu_status
last_value(double *out, const hu_run *r, const char *column)
{
	char *path = hu_path(r->dir, "metrics.tsv");
	hu_table t;
	hu_status st = hu_table_read(&t, path);

	free(path);
	HU_TRY(st);
	int c = hu_table_column(&t, column), row = t.rows - 1;
	while (row >= 0 && !strcmp(hu_table_cell(&t, row, c), "-"))
		row--;
	*out = row < 0 ? NAN : hu_table_real(&t, row, c);
	hu_table_release(&t);
	return row < 0 ? hu_fail(HU_EINVAL, "%s has no %s: its model or its data set has another score", r->dir, column)
		       : HU_OK;
}

static hu_status
add_run(void *to, const hu_run *r, int place)
{
	hu_scores *s = to;
	long long seed = json_integer_value(json_object_get(r->manifest, "seed"));

	(void)place;
	if (hu_seeds_find(&s->by, seed) >= 0)
		return hu_fail(
			HU_EINVAL, "%s has seed %lld as a run before it: one run of each is needed", r->dir, seed);
	HU_TRY(last_value(&s->value[s->by.n], r, s->column));
	s->by.seed[s->by.n++] = seed;
	return HU_OK;
}

hu_status
hu_scores_collect(hu_scores *s, const char *score, char *const *run, int runs)
{
	memset(s, 0, sizeof *s);
	hu_status st = choose(s, score);
	if (st == HU_OK && runs > HU_SEEDS)
		st = hu_fail(HU_EINVAL, "%d runs: at most %d are compared", runs, HU_SEEDS);
	if (st == HU_OK)
		st = hu_seeds_walk(&s->by, run, runs, add_run, s);
	if (st != HU_OK)
		hu_scores_release(s);
	return st;
}

hu_status
hu_scores_serve(const hu_scores *s)
{
	int differ = 0;

	if (s->by.n < 3)
		return hu_fail(
			HU_EINVAL, "the spread of a score needs at least 3 seeds, better 5, and here are %d", s->by.n);
	for (int i = 0; i < s->by.n; i++) {
		differ |= s->value[i] != s->value[0];
		if (!isfinite(s->value[i]))
			return hu_fail(HU_EINVAL, "%s of seed %lld is not finite", s->column, s->by.seed[i]);
	}
	return differ ? HU_OK
		      : hu_fail(HU_EINVAL,
				"every run has the same %s, %g, which does not say how far chance moves it: evaluate "
				"on "
				"more samples, or record another score",
				s->column, s->value[0]);
}

void
hu_scores_release(hu_scores *s)
{
	hu_baseline_release(&s->by.of);
	memset(s, 0, sizeof *s);
}
