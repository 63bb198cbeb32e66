/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/statistics.h"

#include "analyzers/drift/statistics/student.h"
#include "lib/base/console/threshold.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the candidates: their aggregates, and the place of each one's seed among those of the baseline, or -1. */
typedef struct candidates {
	const hu_statistics *of;
	char *const *run;
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

/* Whether the first steps of run K and of the baseline run of its seed agree: same data, same weights, same arithmetic
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
take(void *to, const hu_run *r, int place)
{
	candidates *c = to;
	hu_aggregates *a = &c->a[place];

	HU_TRY(hu_aggregates_collect(a, r));
	for (int k = 0; k < place; k++)
		if (c->a[k].seed == a->seed)
			return hu_fail(HU_EINVAL, "%s and %s have one seed, %lld: one run of each is needed", c->run[k],
				r->dir, a->seed);
	c->at[place] = hu_seeds_find(&c->of->by, a->seed);
	c->paired &= is_pair(c->of, c, place);
	c->n = place + 1;
	return HU_OK;
}

/* Exact quantities: nothing that no baseline run and no repeat had. Where a seed overflows, and so how often it skips a
   step, is chance: of unpaired runs one step more or less, which is a factor of 2 of the scale, says nothing. */
static void
judge_exact(hu_outcomes *o, const hu_statistic *q, const hu_statistics *s, const candidates *c)
{
	double low = INFINITY, high = -INFINITY, x = NAN;
	int ok = 1;

	for (int i = 0; i < s->by.n; i++) {
		low = fmin(low, fmin(q->value[i], q->repeat[i]));
		high = fmax(high, fmax(q->value[i], q->repeat[i]));
	}
	const char *chance = "";
	double least = low, most = high;
	if (!c->paired && !strcmp(q->name, "exact/skipped_steps")) {
		least = low - 1;
		most = high + 1;
		chance = " give or take one, the seeds being others";
	} else if (!c->paired && !strcmp(q->name, "exact/last_loss_scale") && (low != 1 || high != 1)) {
		least = low / 2;
		most = high * 2;
		chance = " give or take a factor of 2, the seeds being others";
	}
	for (int k = 0; k < c->n && ok; k++) {
		x = value_of(&c->a[k], q->name);
		ok = hu_threshold_keeps(hu_threshold_most(most), x) &&
		     (q->better < 0 || hu_threshold_keeps(hu_threshold_least(least), x));
	}
	hu_outcomes_add(o, q->name, ok,
		ok ? hu_xprintf("within the baseline runs' %g to %g%s", low, high, chance)
		   : hu_xprintf("%g, and the baseline runs have %g to %g%s", x, low, high, chance),
		NULL);
}

static int
quantities_of(const hu_statistics *s)
{
	int n = 0;

	for (int i = 0; i < s->n; i++)
		n += s->q[i].kind < HU_AGGREGATE_EXACT;
	return n;
}

/* How many times s the spread over seeds may be, of which n told s, with 90 %: half of that may be moved by. Five seeds
   often tell half of what more of them would. */
static double
widening(int n)
{
	return sqrt((n - 1) / hu_chi_square_limit(0.1, n - 1));
}

static int
is_one_sided(const hu_statistic *q)
{
	return q->kind == HU_AGGREGATE_ERROR || q->kind == HU_AGGREGATE_SHARE;
}

double
hu_statistics_allowed(const hu_statistics *s, const hu_statistic *q, int k)
{
	int n = s->by.n, one = is_one_sided(q);
	double t = hu_student_limit((one ? 0.01 : 0.005) / quantities_of(s), n);

	return widening(n) * q->s / 2 + t * q->tau / sqrt(k) + (one ? log(1.35) : 0);
}

/* The square root of the variance within both groups, N baseline runs and the candidates, whose squares add up to OURS
   and THEIRS, and of the floor: what s has beyond the variance of its runs, or more. */
static double
spread_of_both(const hu_statistic *q, int n, int k, double ours, double theirs, double floor)
{
	double had = fmax(q->s * q->s - ours / (n - 1), 0);

	return sqrt((ours + theirs) / (n + k - 2) + fmax(had, floor * floor));
}

static double
allowed_unpaired(const hu_statistic *q, int n, int k, double spread, int quantities)
{
	int one = is_one_sided(q);
	double t = hu_student_limit((one ? 0.005 : 0.0025) / quantities, n + k - 2);

	return t * spread * sqrt(1.0 / n + 1.0 / k) + (one ? log(1.35) : 0);
}

static double
mean_of(const double *x, int n, double *squares)
{
	double mean = 0;

	for (int i = 0; i < n; i++)
		mean += x[i] / n;
	*squares = 0;
	for (int i = 0; i < n; i++)
		*squares += (x[i] - mean) * (x[i] - mean);
	return mean;
}

static void
judge_moved(hu_outcomes *o, const hu_statistic *q, const hu_statistics *s, const candidates *c, int quantities)
{
	int n = s->by.n;
	double *x = hu_xcalloc((size_t)c->n, sizeof *x), ours, theirs, spread = q->s, d, limit;

	for (int k = 0; k < c->n; k++)
		x[k] = value_of(&c->a[k], q->name) - (c->paired ? q->value[c->at[k]] : 0);
	d = mean_of(x, c->n, &theirs);
	if (c->paired) {
		limit = hu_statistics_allowed(s, q, c->n);
	} else {
		double mean = mean_of(q->value, n, &ours),
		       floor = hu_aggregate_floor(q->name, q->kind, mean, c->a[0].evaluated, 0);
		d -= mean;
		spread = spread_of_both(q, n, c->n, ours, theirs, floor);
		limit = allowed_unpaired(q, n, c->n, spread, quantities);
	}
	free(x);
	int ok = hu_threshold_keeps(hu_threshold_most(limit), is_one_sided(q) ? d : fabs(d));
	hu_outcomes_add(o, q->name, ok,
		hu_xprintf("%s by %+.4g, a factor of %.4g; %.4g is allowed%s", ok ? "within" : "moved", d, exp(d),
			limit, ok || d * q->better <= 0 ? "" : "; it helps"),
		ok ? NULL
		   : hu_xprintf("mean of %d runs, %s; seeds spread by %.4g, another order of sums moves by %.4g", c->n,
			     c->paired ? "each against the baseline run of its seed"
				       : "against the mean of the baseline runs",
			     spread, q->tau));
	o->v[o->n - 1].moved = d;
	o->v[o->n - 1].allowed = limit;
}

/* Puts failures before the others; either keep their order. */
static void
failures_first(hu_outcomes *o)
{
	hu_outcome *v = hu_xmalloc((o->n + 1) * sizeof *v);
	size_t n = 0;

	for (int ok = 0; ok <= 1; ok++)
		for (size_t i = 0; i < o->n; i++)
			if (!o->v[i].ok == !ok)
				v[n++] = o->v[i];
	memcpy(o->v, v, n * sizeof *v);
	free(v);
}

static char *
summary(const hu_outcomes *o, const hu_statistics *s, const candidates *c, int quantities)
{
	const char *how = c->paired ? "paired: the candidates train baseline seeds, and their first losses agree to "
				      "2e-3"
				    : "unpaired: a seed is not in the baseline, or a first loss is another";
	double seen = hu_student_limit(0.0025 / quantities, s->by.n + c->n - 2) * sqrt(1.0 / s->by.n + 1.0 / c->n);

	return c->paired
		       ? hu_xprintf("%zu of %zu quantities failed\n%s\n%d baseline seeds, %d candidate%s, 0.5 %% over "
				    "%d quantities",
				 o->failed, o->n, how, s->by.n, c->n, c->n == 1 ? "" : "s", quantities)
		       : hu_xprintf(
				 "%zu of %zu quantities failed\n%s\n%d baseline seeds, %d candidate%s: only what moves "
				 "a quantity by more than %.1f times its spread over seeds is seen; candidates of "
				 "baseline seeds see %.1f times",
				 o->failed, o->n, how, s->by.n, c->n, c->n == 1 ? "" : "s", seen,
				 widening(s->by.n) / 2);
}

hu_status
hu_statistics_judge(hu_outcomes *o, const hu_statistics *s, char *const *run, int runs)
{
	candidates c = { .of = s,
		.run = run,
		.a = hu_xcalloc((size_t)runs, sizeof *c.a),
		.at = hu_xcalloc((size_t)runs, sizeof *c.at),
		.paired = 1 };
	hu_seeds theirs = { .n = 0 };
	hu_status st = hu_seeds_walk(&theirs, run, runs, take, &c);
	int quantities = quantities_of(s);

	hu_outcomes_init(o, "halfulp check", run[0]);
	for (int i = 0; i < s->n && st == HU_OK; i++) {
		if (s->q[i].kind == HU_AGGREGATE_EXACT)
			judge_exact(o, &s->q[i], s, &c);
		else if (s->q[i].kind != HU_AGGREGATE_START)
			judge_moved(o, &s->q[i], s, &c, quantities);
	}
	if (st == HU_OK) {
		failures_first(o);
		o->summary = summary(o, s, &c, quantities);
	} else {
		hu_outcomes_release(o);
	}
	hu_baseline_release(&theirs.of);
	free(c.a);
	free(c.at);
	return st;
}
