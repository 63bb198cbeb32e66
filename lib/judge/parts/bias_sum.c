/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/parts/bias_sum.h"

#include "lib/base/mem.h"
#include "lib/judge/kernel/balls.h"
#include "lib/judge/kernel/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAIN 0x1p24 /* 4096 ulps of all elements of a cluster fit into 63 bits up to 2^27 elements */

void
hu_bias_sum_begin(hu_bias_sum *b, hu_format f, size_t of)
{
	memset(b, 0, sizeof *b);
	b->f = f;
	b->of = of;
}

/* An error in ulps as a whole number, the same for an error and its negative. Adding 1.5 2^52 and taking it away rounds
   what is below 2^51 to the nearest whole number. */
static int64_t
grains(double ulps)
{
	double x = ulps > HU_BIAS_LARGEST ? HU_BIAS_LARGEST : ulps < -HU_BIAS_LARGEST ? -HU_BIAS_LARGEST : ulps;

	return (int64_t)(x * GRAIN + 0x1.8p52 - 0x1.8p52);
}

/* The cluster of the elements from `first` up to `end`, as the last element had it: elements mostly come one behind
   another, and a cluster takes a division of 128 bits. */
typedef struct cluster { size_t k, first, end; } cluster;

static size_t
cluster_of(cluster *c, size_t element, size_t of)
{
	if (element >= c->first && element < c->end)
		return c->k;
	c->k = hu_bias_cluster(element, of);
	c->first = (size_t)(((__uint128_t)c->k * of + HU_BIAS_CLUSTERS - 1) / HU_BIAS_CLUSTERS);
	c->end = (size_t)(((__uint128_t)(c->k + 1) * of + HU_BIAS_CLUSTERS - 1) / HU_BIAS_CLUSTERS);
	return c->k;
}

static void
put(int64_t sum[2][HU_BIAS_CLUSTERS], size_t k, double ulps, double x)
{
	int64_t g = grains(ulps);

	sum[0][k] += g;
	sum[1][k] += x > 0 ? g : x < 0 ? -g : 0;
}

/* What the computation may err beside its last rounding, but no more than an error counts, so that the sum over a
   tensor cannot wrap. A value without a bound takes back all that it adds. */
static uint64_t
slack(double bound, double ulp)
{
	double own = bound / ulp - 0.5;

	return own > 0 ? (uint64_t)((own < 2 * HU_BIAS_LARGEST ? own : 2 * HU_BIAS_LARGEST) * GRAIN) + 1 : 0;
}

/* An ulp of x in f, a finite number. */
static double
ulp_of(double x, hu_format f)
{
	int e = (int)(hu_bits64(x) >> 52 & 0x7ff) - 1023, unit = (e < f.emin ? f.emin : e) - f.p + 1;

	return unit > -1000 && unit < 1000 && f.emin > -1000 ? hu_from_bits64((uint64_t)(unit + 1023) << 52)
							       : 2 * hu_ball_half_ulp(x, f);
}

static void
one(hu_bias_sum *b, cluster *c, size_t element, double got, double exact, double error, double ulps, double bound)
{
	if (b->f.id == HU_FP64 || !isfinite(got) || !isfinite(exact) || !isfinite(ulps))
		return;
	b->n++;
	if (bound == 0 && error == 0) /* a copy: it has neither an error nor slack */
		return;
	double ulp = ulp_of(exact, b->f);
	b->reach += slack(bound, ulp);
	if (error == 0 || got == exact)
		return;
	size_t k = cluster_of(c, element, b->of);
	put(b->error, k, got > exact ? ulps : -ulps, exact);
	if (ulps > 0.5) /* else the rounded exact value is what was got, or as far away on the other side */
		put(b->rounded, k, (got - hu_round(exact, b->f, HU_RNE, 0, 0)) / ulp, exact);
}

static void
merge(hu_bias_sum *to, const hu_bias_sum *part)
{
	to->n += part->n;
	to->reach += part->reach;
	to->reach_declared += part->reach_declared;
	to->asked |= part->asked;
	for (int d = 0; d < 2; d++)
		for (int k = 0; k < HU_BIAS_CLUSTERS; k++) {
			to->error[d][k] += part->error[d][k];
			to->rounded[d][k] += part->rounded[d][k];
			to->declared[d][k] += part->declared[d][k];
		}
}

void
hu_bias_sum_add(hu_bias_sum *b, const hu_judging *some)
{
	hu_bias_sum *part = hu_xmalloc(sizeof *part);
	cluster c = { 0, 0, 0 };

	hu_bias_sum_begin(part, b->f, b->of);
	for (size_t i = 0; i < some->n; i++)
		one(part, &c, some->element[i], some->got[i], some->exact[i], some->error[i], some->ulps[i],
			some->bound[i]);
#pragma omp critical(hu_bias_sum)
	merge(b, part);
	free(part);
}

void
hu_bias_sum_add_judged(hu_bias_sum *b, const hu_judged *j)
{
	cluster c = { 0, 0, 0 };

	for (size_t i = 0; i < j->n; i++)
		one(b, &c, j->element[i], j->got[i], j->exact[i], j->error[i], j->ulps[i], j->bound[i]);
}

void
hu_bias_sum_emulated(hu_bias_sum *b, size_t element, double got, double declared)
{
	if (!b->asked)
		b->reach_declared = b->reach;
	b->asked = 1;
	if (isfinite(got) && isfinite(declared) && got != declared)
		put(b->declared, hu_bias_cluster(element, b->of),
			(got - declared) / (2 * hu_ball_half_ulp(declared, b->f)), declared);
}

/* T of one direction; *ALL is the sum, in ulps. */
static double
statistic(const int64_t *sum, uint64_t reach, double *all)
{
	double x[HU_BIAS_CLUSTERS];

	for (int k = 0; k < HU_BIAS_CLUSTERS; k++)
		x[k] = (double)sum[k] / GRAIN;
	return hu_bias_of_sums(x, HU_BIAS_CLUSTERS, (double)reach / GRAIN, all);
}

int
hu_bias_sum_suspects(const hu_bias_sum *b, int parts)
{
	double all, t = fmax(statistic(b->rounded[0], b->reach, &all), statistic(b->rounded[1], b->reach, &all));

	return t > HU_BIAS_T / sqrt(parts > 1 ? parts : 1);
}

void
hu_bias_sum_merge(hu_bias_sum *to, const hu_bias_sum *part)
{
	merge(to, part);
}

void
hu_bias_sum_end(hu_bias_found *r, const hu_bias_sum *b)
{
	double sum[2], all;

	for (int d = 0; d < 2; d++)
		(void)statistic(b->error[d], 0, &sum[d]);
	*r = (hu_bias_found){ b->n ? sum[0] / (double)b->n : NAN, b->n ? sum[1] / (double)b->n : NAN, b->n ? 0 : NAN,
		b->asked ? 0 : NAN, 0 };
	for (int d = 0; d < 2 && b->n; d++) {
		double t = statistic(b->rounded[d], b->reach, &all),
		       u = b->asked ? statistic(b->declared[d], b->reach_declared, &all) : 0;
		r->t = fmax(r->t, t);
		r->t_declared = fmax(r->t_declared, b->asked ? u : NAN);
		r->biased |= t > HU_BIAS_T && u > HU_BIAS_T;
	}
}

void
hu_bias_sum_versions(hu_bias_sum *b, size_t first, const double *x, const double *y, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]) || !isfinite(y[i]))
			continue;
		b->n++;
		if (x[i] == y[i])
			continue;
		double ulps = (y[i] - x[i]) / (2 * hu_ball_half_ulp(x[i], b->f));
		put(b->error, hu_bias_cluster(first + i, b->of), ulps, x[i]);
		put(b->rounded, hu_bias_cluster(first + i, b->of), ulps, x[i]);
	}
}

void
hu_bias_sum_end_versions(hu_bias_found *r, const hu_bias_sum *b)
{
	hu_bias_sum_end(r, b);
	r->t_declared = NAN;
	r->biased = 0;
}

void
hu_bias_of_versions(hu_bias_found *r, const hu_tensor *x, const hu_tensor *y, hu_format f)
{
	hu_bias_sum *b = hu_xmalloc(sizeof *b);

	hu_bias_sum_begin(b, f, x->n);
	for (size_t i = 0; i < x->n; i++) {
		double u = hu_get(x, i), v = hu_get(y, i);
		hu_bias_sum_versions(b, i, &u, &v, 1);
	}
	hu_bias_sum_end_versions(r, b);
	free(b);
}

void
hu_bias_sum_pack(hu_pack *r, hu_bias_sum *b)
{
	int64_t *all[3] = { &b->error[0][0], &b->rounded[0][0], &b->declared[0][0] };
	size_t reach = (size_t)b->reach, declared = (size_t)b->reach_declared;

	hu_pack_size(r, &b->n);
	hu_pack_size(r, &reach);
	hu_pack_size(r, &declared);
	hu_pack_int(r, &b->asked);
	b->reach = reach;
	b->reach_declared = declared;
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 2 * HU_BIAS_CLUSTERS && (k < 2 || b->asked); i++) {
			size_t x = (size_t)all[k][i];
			hu_pack_size(r, &x);
			all[k][i] = (int64_t)x;
		}
}
