/* SPDX-License-Identifier: Apache-2.0
   Recording: from runs to what their aggregates spread by. */
#include "analyzers/drift/statistics/statistics.h"

#include "lib/base/mem.h"

#include <math.h>
#include <string.h>

/* What is being made of runs: which seeds have their repeat, and the order of sums of their first run. */
typedef struct making {
	hu_statistics *s;
	int repeated[HU_SEEDS];
	char sum[HU_SEEDS][96];
} making;

static void
name_quantities(hu_statistics *s, const hu_aggregates *a)
{
	s->evaluated = a->evaluated;
	for (int i = 0; i < a->n; i++) {
		hu_statistic *q = &s->q[s->n++];
		snprintf(q->name, sizeof q->name, "%s", a->a[i].name);
		q->kind = a->a[i].kind;
		q->better = a->a[i].better;
	}
}

static hu_status
add_run(void *to, const hu_run *r, int place)
{
	making *m = to;
	hu_statistics *s = m->s;
	const char *dir = r->dir;
	hu_aggregates a;

	HU_TRY(hu_aggregates_collect(&a, r));
	if (!place)
		name_quantities(s, &a);
	int at = hu_seeds_find(&s->by, a.seed), repeat = at >= 0;
	if (!repeat && s->by.n == HU_SEEDS)
		return hu_fail(HU_EINVAL, "more than %d seeds", HU_SEEDS);
	if (repeat && m->repeated[at])
		return hu_fail(HU_EINVAL, "%s is the third run of seed %lld; two of each are needed", dir, a.seed);
	if (repeat && !strcmp(m->sum[at], a.accumulate))
		return hu_fail(HU_EINVAL,
			"%s repeats seed %lld in the same order of sums (%s): the repeat is to have another, as with "
			"--accumulate chunk:64",
			dir, a.seed, a.accumulate);
	if (!repeat) {
		at = s->by.n++;
		s->by.seed[at] = a.seed;
		snprintf(m->sum[at], sizeof m->sum[at], "%s", a.accumulate);
	}
	m->repeated[at] = repeat;
	if (a.n != s->n)
		return hu_fail(HU_EINVAL, "%s has other quantities than the runs before it: was it evaluated?", dir);
	for (int i = 0; i < s->n; i++)
		(repeat ? s->q[i].repeat : s->q[i].value)[at] = a.a[i].value;
	return HU_OK;
}

/* s and τ; a quantity that one of the runs does not have, or that is not finite there, is left out. */
static int
spread(hu_statistic *q, int n, double evaluated)
{
	double mean = 0, sum = 0, noise = 0;

	for (int i = 0; i < n; i++) {
		if (!isfinite(q->value[i]) || !isfinite(q->repeat[i]))
			return 0;
		mean += q->value[i] / n;
		noise += (q->repeat[i] - q->value[i]) * (q->repeat[i] - q->value[i]) / n;
	}
	for (int i = 0; i < n; i++)
		sum += (q->value[i] - mean) * (q->value[i] - mean) / (n - 1);
	double floor = hu_aggregate_floor(q->name, q->kind, mean, evaluated, 1);
	q->s = sqrt(sum + floor * floor);
	q->tau = sqrt(noise);
	return 1;
}

hu_status
hu_statistics_make(hu_statistics *s, char *const *run, int runs)
{
	making m = { .s = s };
	int kept = 0;

	memset(s, 0, sizeof *s);
	hu_status st = hu_seeds_walk(&s->by, run, runs, add_run, &m);
	if (st == HU_OK && s->by.n < 3)
		st = hu_fail(HU_EINVAL, "statistics need at least 3 seeds, better 5, and here are %d", s->by.n);
	for (int i = 0; i < s->by.n && st == HU_OK; i++)
		if (!m.repeated[i])
			st = hu_fail(HU_EINVAL,
				"seed %lld was trained once: each seed is needed a second time with another order of "
				"sums "
				"(--accumulate chunk:64), which measures what may differ",
				s->by.seed[i]);
	for (int i = 0; i < s->n && st == HU_OK; i++)
		if (spread(&s->q[i], s->by.n, s->evaluated))
			s->q[kept++] = s->q[i];
	s->n = st == HU_OK ? kept : 0;
	if (st != HU_OK)
		hu_statistics_release(s);
	return st;
}

void
hu_statistics_release(hu_statistics *s)
{
	hu_baseline_release(&s->by.of);
	memset(s, 0, sizeof *s);
}
