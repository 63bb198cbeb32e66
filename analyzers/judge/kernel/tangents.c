/* SPDX-License-Identifier: Apache-2.0
   The node whose tangent an error follows: what the result becomes where the node is scaled. */
#include "analyzers/judge/kernel/culprit.h"

#include <math.h>
#include <stdio.h>

/* A factor is tried from a change of 2^-STEP on, and found in ROUNDS secants. */
enum { STEP = 10, ROUNDS = 4 };
/* The least share of an error that a factor has to explain, where the result is not right with it. */
#define LEAST_SHARE 0.99
/* 5e-6 and less prints as a factor of 1. */
#define LEAST_CHANGE 5e-6

/* By how much of the error's square the change explains it, and how many times the change fits best. Each element
   counts in half ulps of its value, or of the mean magnitude where that is larger: few values near 0 decide nothing. */
typedef struct fit {
	double cosine2, slope, share;
} fit;

static fit
compare(const hu_judge_result *r, const hu_balls *x, const hu_balls *moved)
{
	double dd = 0, dt = 0, tt = 0, rest = 0, mean = 0;

	for (size_t i = 0; i < x->n; i++)
		mean += hu_isfinite(x->b[i].x) ? fabs(x->b[i].x) / (double)x->n : 0;
	for (size_t i = 0; i < x->n; i++) {
		double h = hu_ball_half_ulp(fmax(fabs(x->b[i].x), mean), r->f), d = (r->got[i] - x->b[i].x) / h;
		double t = (moved->b[i].x - x->b[i].x) / h;
		if (!hu_isfinite(d) || !hu_isfinite(t))
			continue;
		dd += d * d;
		dt += d * t;
		tt += t * t;
		rest += (d - t) * (d - t);
	}
	return (fit){ dd > 0 && tt > 0 ? dt * dt / dd / tt : 0, tt > 0 ? dt / tt : 0, dd > 0 ? 1 - rest / dd : 0 };
}

/* The result where the node NODE of values VALUE is FACTOR times what it is. */
static hu_status
scaled(hu_kernel_job *all, int node, hu_balls *value, double factor, hu_stores stores, hu_balls **moved)
{
	all->scaled = node;
	all->scaled_value = &value[node];
	all->factor = factor;
	hu_status st = hu_kernel_job_values(all, &all->facts, stores, moved);
	all->scaled_value = NULL;
	return st;
}

/* The factor under which the result is right or explains nearly all of the error: a tangent alone says nothing of
   large factors. Returns 0 where there is none. */
static int
factor_of(hu_kernel_job *all, const hu_judge_result *r, const hu_balls *x, int node, hu_balls *value, double change,
	double *factor, double *share)
{
	hu_balls *moved = NULL;
	hu_kernel_verdict v = { .n = 0 };
	fit f = { 0, 0, 0 };

	for (int k = 0; k < ROUNDS && hu_isfinite(change) && fabs(change) > LEAST_CHANGE; k++) {
		if (scaled(all, node, value, 1 + change, HU_STORES_NONE, &moved) != HU_OK)
			return 0;
		f = compare(r, x, &moved[r->id]);
		hu_kernel_values_free(all, moved);
		if (k + 1 < ROUNDS)
			change *= f.slope;
	}
	if (!(fabs(change) > LEAST_CHANGE) || scaled(all, node, value, 1 + change, HU_STORES_ADD, &moved) != HU_OK)
		return 0;
	hu_kernel_judge(&v, r->got, &moved[r->id], &moved[r->id], NULL, r->f, all->confidence);
	f = compare(r, x, &moved[r->id]);
	hu_kernel_values_free(all, moved);
	*factor = 1 + change;
	*share = f.share;
	return f.share > LEAST_SHARE || (v.word == HU_KERNEL_RIGHT && f.share > 0.5);
}

hu_status
hu_kernel_tangents(const hu_kernel_job *j, hu_judge_result *r, const hu_balls *x)
{
	hu_kernel_job all = *j;
	hu_balls *value = NULL;
	double most = 0;

	if (j->ngiven)
		return HU_OK;
	all.keep_all = 1;
	HU_TRY(hu_kernel_job_values(&all, &j->facts, HU_STORES_NONE, &value));
	for (int node = 0; node < j->graph.n; node++) {
		hu_balls *moved = NULL;
		double factor, share;
		if (node == r->id || !value[node].b ||
			scaled(&all, node, value, 1 + ldexp(1, -STEP), HU_STORES_NONE, &moved) != HU_OK)
			continue;
		fit f = compare(r, x, &moved[r->id]);
		hu_kernel_values_free(j, moved);
		if (!(f.cosine2 > 0.8) || !factor_of(&all, r, x, node, value, ldexp(f.slope, -STEP), &factor, &share) ||
			share < most * 1.02)
			continue;
		most = share;
		snprintf(r->as_if, sizeof r->as_if, "as if %s were %.6g times what it is (%.0f %% of the error)",
			j->graph.name[node], factor, 100 * share);
	}
	hu_kernel_values_free(j, value);
	return HU_OK;
}
