/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/statistics/statistics.h"

#include "analyzers/statistics/student.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the candidates: their aggregates, and the place of each one's seed among the blessed, or -1. */
typedef struct candidates {
	hu_aggregates *a;
	int *at, n, paired;
} candidates;

static double
value_of(const hu_aggregates *a, const char *name)
{
	for (int i = 0; i < a->n; i++)
		if (!strcmp(a->a[i].name, name))
			return a->a[i].value;
	return NAN;
}

static const hu_statistic *
find(const hu_statistics *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (!strcmp(s->q[i].name, name))
			return &s->q[i];
	return NULL;
}

/* Whether the first steps of run K and of the blessed one of its seed agree: same data, same weights, same arithmetic
   but for roundings. */
static int
is_pair(const hu_statistics *s, const candidates *c, int k)
{
	const hu_statistic *q = find(s, "start/loss");

	if (!q || c->at[k] < 0)
		return 0;
	double was = q->value[c->at[k]], is = value_of(&c->a[k], q->name);
	return fabs(is - was) <= 2e-3 * fabs(was);
}

static hu_status
collect(candidates *c, const hu_statistics *s, char *const *run, int runs)
{
	c->a = hu_xcalloc((size_t)runs, sizeof *c->a);
	c->at = hu_xcalloc((size_t)runs, sizeof *c->at);
	c->paired = 1;
	for (c->n = 0; c->n < runs; c->n++) {
		hu_run r;
		HU_TRY(hu_run_open(&r, run[c->n]));
		hu_status st = hu_run_finished(&r);
		if (st == HU_OK)
			st = hu_aggregates_collect(&c->a[c->n], &r);
		hu_run_release(&r);
		HU_TRY(st);
		c->at[c->n] = -1;
		for (int i = 0; i < s->seeds; i++)
			if (s->seed[i] == c->a[c->n].seed)
				c->at[c->n] = i;
		for (int k = 0; k < c->n; k++)
			if (c->a[k].seed == c->a[c->n].seed)
				return hu_fail(HU_EINVAL, "%s and %s have one seed, %lld: one run of each is needed",
					run[k], run[c->n], c->a[k].seed);
		c->paired &= is_pair(s, c, c->n);
	}
	return HU_OK;
}

/* Exact quantities: nothing that no blessed run and no repeat had. */
static void
judge_exact(hu_outcomes *o, const hu_statistic *q, const hu_statistics *s, const candidates *c)
{
	double low = INFINITY, high = -INFINITY, x = NAN;
	int ok = 1;

	for (int i = 0; i < s->seeds; i++) {
		low = fmin(low, fmin(q->value[i], q->repeat[i]));
		high = fmax(high, fmax(q->value[i], q->repeat[i]));
	}
	for (int k = 0; k < c->n && ok; k++) {
		x = value_of(&c->a[k], q->name);
		ok = x <= high && (q->better < 0 || x >= low);
	}
	hu_outcomes_add(o, q->name, ok,
		ok ? hu_xprintf("within the blessed runs' %g to %g", low, high)
		   : hu_xprintf("%g, and the blessed runs have %g to %g", x, low, high),
		NULL);
}

/* How many times s the spread over seeds may be, of which n told s, with 90 %: half of that may be moved by. Five seeds
   often tell half of what more of them would. */
static double
widening(int n)
{
	return sqrt((n - 1) / hu_chi_square_limit(0.1, n - 1));
}

static void
judge_moved(hu_outcomes *o, const hu_statistic *q, const hu_statistics *s, const candidates *c, int quantities)
{
	int n = s->seeds, one_sided = q->kind == HU_AGGREGATE_ERROR || q->kind == HU_AGGREGATE_SHARE;
	double d = 0, mean = 0, limit, tail = (one_sided ? 0.01 : 0.005) / quantities;

	for (int i = 0; i < n; i++)
		mean += q->value[i] / n;
	for (int k = 0; k < c->n; k++)
		d += (value_of(&c->a[k], q->name) - (c->paired ? q->value[c->at[k]] : mean)) / c->n;
	if (c->paired)
		limit = widening(n) * q->s / 2 + hu_student_limit(tail, n) * q->tau / sqrt(c->n);
	else
		limit = hu_student_limit(tail, c->n == 1 ? n - 1 : n + c->n - 2) * q->s * sqrt(1.0 / n + 1.0 / c->n);
	limit += one_sided ? log(1.35) : 0;
	int ok = one_sided ? d <= limit : fabs(d) <= limit;
	hu_outcomes_add(o, q->name, ok,
		hu_xprintf("%s by %+.4g, a factor of %.4g; %.4g is allowed%s", ok ? "within" : "moved", d, exp(d),
			limit, ok || d * q->better <= 0 ? "" : "; it helps"),
		ok ? NULL
		   : hu_xprintf("mean of %d runs, %s; seeds spread by %.4g, another order of sums moves by %.4g", c->n,
			     c->paired ? "each against the blessed run of its seed"
				       : "against the mean of the blessed runs",
			     q->s, q->tau));
	o->v[o->n - 1].moved = d;
	o->v[o->n - 1].allowed = limit;
}

static int
failures_first(const void *a, const void *b)
{
	return ((const hu_outcome *)a)->ok - ((const hu_outcome *)b)->ok;
}

static char *
summary(const hu_outcomes *o, const hu_statistics *s, const candidates *c, int quantities)
{
	const char *how = c->paired ? "paired: the candidates train blessed seeds, and their first losses agree to 2e-3"
				    : "unpaired: a seed is not blessed, or a first loss is another";
	double seen = hu_student_limit(0.005 / quantities, c->n == 1 ? s->seeds - 1 : s->seeds + c->n - 2) *
		      sqrt(1.0 / s->seeds + 1.0 / c->n);

	return c->paired
		       ? hu_xprintf("%zu of %zu quantities failed\n%s\n%d blessed seeds, %d candidates, 0.5 %% over %d "
				    "quantities",
				 o->failed, o->n, how, s->seeds, c->n, quantities)
		       : hu_xprintf(
				 "%zu of %zu quantities failed\n%s\n%d blessed seeds, %d candidates: only what moves a "
				 "quantity by more than %.1f times its spread over seeds is seen; candidates of "
				 "blessed seeds see %.1f times",
				 o->failed, o->n, how, s->seeds, c->n, seen, widening(s->seeds) / 2);
}

hu_status
hu_statistics_judge(hu_outcomes *o, const hu_statistics *s, char *const *run, int runs)
{
	candidates c = { 0 };
	hu_status st = collect(&c, s, run, runs);
	int quantities = 0;

	hu_outcomes_init(o, "halfulp check", run[0]);
	for (int i = 0; i < s->n; i++)
		quantities += s->q[i].kind < HU_AGGREGATE_EXACT;
	for (int i = 0; i < s->n && st == HU_OK; i++) {
		if (s->q[i].kind == HU_AGGREGATE_EXACT)
			judge_exact(o, &s->q[i], s, &c);
		else if (s->q[i].kind != HU_AGGREGATE_START)
			judge_moved(o, &s->q[i], s, &c, quantities);
	}
	if (st == HU_OK) {
		qsort(o->v, o->n, sizeof *o->v, failures_first);
		o->summary = summary(o, s, &c, quantities);
	} else {
		hu_outcomes_release(o);
	}
	free(c.a);
	free(c.at);
	return st;
}
