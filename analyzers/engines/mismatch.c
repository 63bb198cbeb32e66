/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/mismatch.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double hu_mismatch_quantile[HU_MISMATCH_QUANTILES] = { 0.5, 0.9, 0.99, 0.999, 1 };

/* The first largest of n logits; ties are the first's, as torch.argmax has it on a CPU. */
static size_t
greedy(const double *x, size_t n)
{
	size_t at = 0;

	for (size_t i = 1; i < n; i++)
		if (x[i] > x[at])
			at = i;
	return at;
}

/* The logarithm of the sum of exponentials, in long double; NaN where there are no probabilities. */
static long double
log_sum(const double *x, size_t n)
{
	double most = x[greedy(x, n)];
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			return NAN;
		sum += expl((long double)x[i] - most);
	}
	return isinf(most) ? NAN : most + logl(sum);
}

/* KL(A || B): classes that A gives no probability add 0; a class that B alone gives none makes it infinite. */
static double
divergence(const double *a, const double *b, size_t n, long double la, long double lb)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		long double p = a[i] - la;
		if (a[i] > -INFINITY)
			sum += expl(p) * (((long double)a[i] - b[i]) - (la - lb));
	}
	return sum > 0 ? (double)sum : 0; /* rounding may leave it just below */
}

static void
add(hu_mismatch *m, double d, double kl, double tau, int differ, long long at)
{
	double off = fabs(d);

	m->tokens++;
	m->sum += d;
	m->sum_abs += off;
	m->k1 -= d;
	m->k2 += d * d / 2;
	m->k3 += expm1(d) - d;
	m->kl += kl;
	m->kl_max = fmax(m->kl_max, kl);
	m->beyond += off > log(tau);
	if (m->worst < 0 || off > m->max) {
		m->max = off;
		m->worst = at;
	}
	m->differ += differ != 0;
	if (differ && m->first < 0)
		m->first = at;
}

static void
join(hu_mismatch *to, const hu_mismatch *m)
{
	if (m->worst >= 0 && (to->worst < 0 || m->max > to->max)) {
		to->max = m->max;
		to->worst = m->worst;
	}
	if (to->first < 0)
		to->first = m->first;
	to->tokens += m->tokens;
	to->left_out += m->left_out;
	to->nonfinite += m->nonfinite;
	to->same += m->same;
	to->beyond += m->beyond;
	to->differ += m->differ;
	to->sum += m->sum;
	to->sum_abs += m->sum_abs;
	to->k1 += m->k1;
	to->k2 += m->k2;
	to->k3 += m->k3;
	to->kl += m->kl;
	to->kl_max = fmax(to->kl_max, m->kl_max);
}

/* Compares one token; `off` gets |d|, or NaN where there is none. */
static hu_status
token(hu_mismatch *m, double *off, const double *a, const double *b, size_t n, const long long *label, double tau,
	long long at)
{
	size_t ga = greedy(a, n), gb = greedy(b, n), y = label ? (size_t)*label : ga;

	*off = NAN;
	if (label && *label < 0) {
		m->left_out++;
		return HU_OK;
	}
	if (label && (unsigned long long)*label >= n)
		return hu_fail(HU_EFILE, "token %lld, number %lld, is none of the %zu classes", *label, at + 1, n);
	long double la = log_sum(a, n), lb = log_sum(b, n);
	if (isnan((double)la) || isnan((double)lb) || (a[y] == -INFINITY && b[y] == -INFINITY)) {
		m->nonfinite++;
		return HU_OK;
	}
	/* The difference of two logits is often exact, and much smaller than they are. */
	double d = (double)(((long double)b[y] - a[y]) - (lb - la));
	m->same += !memcmp(a, b, n * sizeof *a);
	add(m, d, divergence(a, b, n, la, lb), tau, ga != gb, at);
	*off = fabs(d);
	return HU_OK;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Quantile q of n sorted numbers is the smallest that no less than q n of them do not exceed. */
static void
quantiles(hu_mismatches *m, double *off, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(off[i]))
			off[kept++] = off[i];
	qsort(off, kept, sizeof *off, ascending);
	for (int q = 0; q < HU_MISMATCH_QUANTILES; q++) {
		size_t at = (size_t)ceil(hu_mismatch_quantile[q] * (double)kept);
		m->quantile[q] = kept ? off[at ? at - 1 : 0] : NAN;
	}
}

hu_status
hu_mismatch_measure(hu_mismatches *m, const hu_logits *a, const hu_logits *b, const hu_logits *tokens, double tau)
{
	size_t n = a->sequences * a->positions, classes = a->classes;
	double *off = hu_alloc((n + 1) * sizeof *off);
	hu_status st = HU_OK;

	*m = (hu_mismatches){ .sequences = a->sequences, .all = { .worst = -1, .first = -1 } };
	if (!off)
		return hu_fail(HU_ENOMEM, "no memory for %zu tokens", n);
	m->sequence = hu_xcalloc(a->sequences + 1, sizeof *m->sequence);
	for (size_t s = 0; s < a->sequences && st == HU_OK; s++) {
		hu_mismatch *one = &m->sequence[s];
		one->worst = one->first = -1;
		for (size_t i = s * a->positions; i < (s + 1) * a->positions && st == HU_OK; i++)
			st = token(one, &off[i], a->x + i * classes, b->x + i * classes, classes,
				tokens ? &tokens->token[i] : NULL, tau, (long long)i);
		join(&m->all, one);
	}
	if (st == HU_OK)
		quantiles(m, off, n);
	free(off);
	if (st != HU_OK)
		hu_mismatch_release(m);
	return st;
}

void
hu_mismatch_release(hu_mismatches *m)
{
	free(m->sequence);
	memset(m, 0, sizeof *m);
}
