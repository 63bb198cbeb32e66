/* SPDX-License-Identifier: Apache-2.0
   Blessing: from runs to what their aggregates spread by. */
#include "analyzers/drift/statistics/statistics.h"

#include "analyzers/drift/baseline/baseline_common.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
seed_at(const hu_statistics *s, long long seed)
{
	for (int i = 0; i < s->seeds; i++)
		if (s->seed[i] == seed)
			return i;
	return -1;
}

static hu_status
first_run(hu_statistics *s, const hu_run *r, const hu_aggregates *a)
{
	hu_baseline_environment(&s->of, r);
	s->evaluated = a->evaluated;
	for (int i = 0; i < a->n; i++) {
		hu_statistic *q = &s->q[s->n++];
		snprintf(q->name, sizeof q->name, "%s", a->a[i].name);
		q->kind = a->a[i].kind;
		q->better = a->a[i].better;
	}
	return HU_OK;
}

static hu_status
add_run(hu_statistics *s, const char *dir, int *repeated, char (*sum)[96])
{
	hu_aggregates a;
	hu_run r;

	HU_TRY(hu_run_open(&r, dir));
	hu_status st = hu_run_finished(&r);
	if (st == HU_OK)
		st = hu_aggregates_collect(&a, &r);
	if (st == HU_OK && !s->n)
		st = first_run(s, &r, &a);
	hu_run_release(&r);
	HU_TRY(st);
	int at = seed_at(s, a.seed), repeat = at >= 0;
	if (!repeat && s->seeds == HU_STATISTICS_SEEDS)
		return hu_fail(HU_EINVAL, "more than %d seeds", HU_STATISTICS_SEEDS);
	if (repeat && repeated[at])
		return hu_fail(HU_EINVAL, "%s is the third run of seed %lld; two of each are needed", dir, a.seed);
	if (repeat && !strcmp(sum[at], a.accumulate))
		return hu_fail(HU_EINVAL,
			"%s repeats seed %lld in the same order of sums (%s): the repeat is to have another, as with "
			"--accumulate chunk:64",
			dir, a.seed, a.accumulate);
	if (!repeat) {
		at = s->seeds++;
		s->seed[at] = a.seed;
		snprintf(sum[at], sizeof sum[at], "%s", a.accumulate);
	}
	repeated[at] = repeat;
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
	int repeated[HU_STATISTICS_SEEDS] = { 0 }, kept = 0;
	char(*sum)[96] = hu_xcalloc(HU_STATISTICS_SEEDS, sizeof *sum);
	hu_status st = HU_OK;

	memset(s, 0, sizeof *s);
	for (int i = 0; i < runs && st == HU_OK; i++)
		st = add_run(s, run[i], repeated, sum);
	free(sum);
	if (st == HU_OK && s->seeds < 3)
		st = hu_fail(HU_EINVAL, "statistics need at least 3 seeds, better 5, and here are %d", s->seeds);
	for (int i = 0; i < s->seeds && st == HU_OK; i++)
		if (!repeated[i])
			st = hu_fail(HU_EINVAL,
				"seed %lld was trained once: each seed is needed a second time with another order of "
				"sums "
				"(--accumulate chunk:64), which measures what may differ",
				s->seed[i]);
	for (int i = 0; i < s->n && st == HU_OK; i++)
		if (spread(&s->q[i], s->seeds, s->evaluated))
			s->q[kept++] = s->q[i];
	s->n = st == HU_OK ? kept : 0;
	if (st != HU_OK)
		hu_statistics_release(s);
	return st;
}

void
hu_statistics_release(hu_statistics *s)
{
	hu_baseline_release(&s->of);
	memset(s, 0, sizeof *s);
}
