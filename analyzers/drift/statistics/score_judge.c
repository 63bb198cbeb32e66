/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/score.h"

#include "analyzers/drift/statistics/power.h"
#include "analyzers/drift/statistics/student.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One side: the mean, the sum of squares about it, and of how many values they are. */
typedef struct side {
	double mean, squares;
	int n;
} side;

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* OLYMPIC: the mean of all but the least and the largest, and the sum of squares, about their own mean, of values of
   which the least is put in the place of the least but one and so on. */
static side
side_of(const hu_scores *s, int olympic)
{
	double v[HU_SEEDS], about = 0;
	int n = s->by.n;
	side r = { 0, 0, olympic ? n - 2 : n };

	memcpy(v, s->value, (size_t)n * sizeof *v);
	qsort(v, (size_t)n, sizeof *v, ascending);
	for (int i = olympic; i < n - olympic; i++)
		r.mean += v[i] / r.n;
	if (olympic) {
		v[0] = v[1];
		v[n - 1] = v[n - 2];
	}
	for (int i = 0; i < n; i++)
		about += v[i] / n;
	for (int i = 0; i < n; i++)
		r.squares += (v[i] - about) * (v[i] - about);
	return r;
}

hu_status
hu_score_judge(hu_score_test *t, const hu_scores *old, const hu_scores *new, int olympic)
{
	memset(t, 0, sizeof *t);
	if (olympic && (old->by.n < 4 || new->by.n < 4))
		return hu_fail(HU_EINVAL,
			"--olympic leaves out the best and the worst run of each side: 4 candidates against 4 baseline "
			"runs are needed, and here are %d against %d",
			new->by.n, old->by.n);
	side a = side_of(old, olympic), b = side_of(new, olympic);
	t->degrees = a.n + b.n - 2;
	t->was = a.mean;
	t->is = b.mean;
	t->error = sqrt((a.squares + b.squares) / t->degrees * (1.0 / a.n + 1.0 / b.n));
	if (!(t->error > 0))
		return hu_fail(HU_EINVAL,
			"without the best and the worst run of each side no run differs from another: judge it without "
			"--olympic");
	t->limit = hu_student_limit(HU_SCORE_ALPHA, t->degrees);
	t->t = old->better * (t->was - t->is) / t->error;
	t->allowed = t->limit * t->error;
	t->detected = hu_power_shift(HU_SCORE_ALPHA, t->degrees, HU_SCORE_POWER) * t->error;
	return HU_OK;
}

double
hu_score_detects(const hu_scores *s, int k)
{
	side a = side_of(s, 0);
	double variance = a.squares / (a.n - 1);

	return hu_power_shift(HU_SCORE_ALPHA, a.n + k - 2, HU_SCORE_POWER) * sqrt(variance * (1.0 / a.n + 1.0 / k));
}
