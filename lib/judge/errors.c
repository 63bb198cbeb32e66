/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/errors.h"

#include "lib/judge/verdict/verdict.h"
#include "lib/base/mem.h"
#include "lib/exact/dd/dd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
add(hu_total *s, double h, double l)
{
	double t;

	s->h = hu_dd_sum(s->h, h, &t);
	s->l += t + l;
}

static void
add_square(hu_total *s, double x)
{
	double l, h;

	if (x > 0x1p-480 && x < 0x1p480) {
		h = hu_dd_product(x, x, &l);
		add(s, h, l);
	} else {
		s->far += (long double)x * x;
	}
}

static void
join(hu_total *to, const hu_total *s)
{
	add(to, s->h, s->l);
	to->far += s->far;
}

static long double
total(const hu_total *s)
{
	return (long double)s->h + s->l + s->far;
}

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* Moves the k largest of x to its front, in any order (Hoare's find, CACM 1961). */
static void
largest(double *x, size_t n, size_t k)
{
	size_t first = 0, last = n;

	while (last - first > 1) {
		double pivot = x[first + (last - first) / 2];
		size_t i = first, j = last - 1;
		for (;;) {
			while (x[i] > pivot)
				i++;
			while (x[j] < pivot)
				j--;
			if (i >= j)
				break;
			double t = x[i];
			x[i++] = x[j];
			x[j--] = t;
		}
		size_t cut = j + 1;     /* none of first .. cut-1 is below the others */
		if (cut == last || cut == first)
			cut = last - 1;
		if (k <= cut)
			last = cut;
		else
			first = cut;
		if (k == cut)
			return;
	}
}

void
hu_errors_begin(hu_errors_sum *s, size_t n, size_t of)
{
	memset(s, 0, sizeof *s);
	s->n = n;
	s->of = of;
	s->floor = -1;
	s->keep = n ? n - (size_t)ceil(0.99 * (double)n) + 1 : 0;
	s->room = 2 * s->keep + 64;
	s->top = hu_xmalloc(s->room * sizeof *s->top);
	s->m.worst = (size_t)-1;
}

static void
keep_top(hu_errors_sum *s, double ulps)
{
	if (!(ulps > s->floor))
		return;
	s->top[s->ntop++] = ulps;
	if (s->ntop < s->room)
		return;
	largest(s->top, s->ntop, s->keep);
	s->ntop = s->keep;
	double least = s->top[0];
	for (size_t i = 1; i < s->keep; i++)
		least = s->top[i] < least ? s->top[i] : least;
#pragma omp atomic write
	s->floor = least;
}

static void
one(hu_errors_sum *s, size_t element, double e, double ulps, double exact, double bound, double mag, int over)
{
	double ratio = e == 0 ? 0 : isinf(bound) ? 0 : e / bound;
	hu_errors *m = &s->m;

	if (isinf(ulps))
		s->infinite = 1;
	else if (ulps != 0) {
		add(&s->ulps, ulps, 0);
		add_square(&s->ulps2, ulps);
	}
	if (ulps > m->ulp_max || (ulps == m->ulp_max && element < m->worst)) {
		m->ulp_max = ulps;
		m->worst = element;
	}
	if (exact > 0 && e / exact > m->rel_max)
		m->rel_max = e / exact;
	if (exact > 0 && mag / exact > m->condition_max)
		m->condition_max = mag / exact;
	if (e > 0 && e / mag > m->componentwise)
		m->componentwise = e / mag;
	if (ratio > m->ratio_max)
		m->ratio_max = ratio;
	if (isfinite(e) && isfinite(mag)) {
		if (e != 0)
			add_square(&s->error2, e);
		if (mag != 0)
			add_square(&s->magnitude2, mag);
	}
	m->over += (size_t)over;
}

static double
larger(double a, double b)
{
	return b > a ? b : a;
}

static void
merge(hu_errors_sum *to, const hu_errors_sum *s)
{
	hu_errors *m = &to->m;

	join(&to->ulps, &s->ulps);
	join(&to->ulps2, &s->ulps2);
	join(&to->error2, &s->error2);
	join(&to->magnitude2, &s->magnitude2);
	to->infinite |= s->infinite;
	if (s->m.ulp_max > m->ulp_max || (s->m.ulp_max == m->ulp_max && s->m.worst < m->worst)) {
		m->ulp_max = s->m.ulp_max;
		m->worst = s->m.worst;
	}
	m->rel_max = larger(m->rel_max, s->m.rel_max);
	m->condition_max = larger(m->condition_max, s->m.condition_max);
	m->componentwise = larger(m->componentwise, s->m.componentwise);
	m->ratio_max = larger(m->ratio_max, s->m.ratio_max);
	m->over += s->m.over;
}

/* Merges the lanes' largest values and sums into a sum. */
static void
join_lanes(hu_errors_sum *to, const hu_verdict_sums *s)
{
	hu_errors *m = &to->m;

	for (int j = 0; j < HU_VERDICT_LANES; j++) {
		add(&to->ulps, s->h[0][j], s->l[0][j]);
		add(&to->ulps2, s->h[1][j], s->l[1][j]);
		add(&to->error2, s->h[2][j], s->l[2][j]);
		add(&to->magnitude2, s->h[3][j], s->l[3][j]);
		m->ulp_max = larger(m->ulp_max, s->ulps[j]);
		m->rel_max = larger(m->rel_max, s->rel[j]);
		m->condition_max = larger(m->condition_max, s->condition[j]);
		m->componentwise = larger(m->componentwise, s->componentwise[j]);
		m->ratio_max = larger(m->ratio_max, s->ratio[j]);
	}
}

/* Finds the first element with the largest error, which the lanes do not record. */
static void
find_worst(hu_errors_sum *part, const hu_judging *some)
{
	for (size_t i = 0; i < some->n; i++)
		if (some->ulps[i] == part->m.ulp_max && some->element[i] < part->m.worst)
			part->m.worst = some->element[i];
}

/* The error in ulps below which s does not keep one. The floor only rises, so an old value merely admits more. */
static double
floor_of(const hu_errors_sum *s)
{
	double x;

#pragma omp atomic read
	x = s->floor;
	return x;
}

void
hu_errors_add(hu_errors_sum *s, const hu_judging *some)
{
	enum { STEP = 512 };
	const hu_verdicts *verdicts = hu_verdicts_get();
	hu_errors_sum part = { .m = { .worst = (size_t)-1 } };
	hu_verdict_sums lanes = { .ulps = { 0 } };
	double *top = hu_xmalloc((some->n + 1) * sizeof *top), floor = floor_of(s);
	size_t i = 0, ntop = 0;

	while (i < some->n) {
		size_t n = some->n - i < STEP ? some->n - i : STEP, whole = n / HU_VERDICT_LANES * HU_VERDICT_LANES;
		if (whole && verdicts->plain((int)whole, some->exact + i, some->error + i, some->ulps + i,
				     some->magnitude + i)) {
			verdicts->add(&lanes, (int)whole, some->exact + i, some->error + i, some->ulps + i,
				some->bound + i, some->magnitude + i);
			for (size_t k = i; k < i + whole; k++)
				part.m.over += some->over[k];
			i += whole;
			continue;
		}
		for (size_t last = i + n; i < last; i++)
			one(&part, some->element[i], some->error[i], some->ulps[i], fabs(some->exact[i]),
				some->bound[i], some->magnitude[i], some->over[i]);
	}
	join_lanes(&part, &lanes);
	part.m.worst = (size_t)-1;
	find_worst(&part, some);
	for (i = 0; i < some->n; i++)
		if (some->ulps[i] > floor)
			top[ntop++] = some->ulps[i];
#pragma omp critical(hu_errors)
	{
		merge(s, &part);
		for (i = 0; i < ntop; i++)
			keep_top(s, top[i]);
	}
	free(top);
}

void
hu_errors_thin(hu_errors_sum *s)
{
	if (s->ntop <= s->keep)
		return;
	largest(s->top, s->ntop, s->keep);
	s->ntop = s->keep;
}

void
hu_errors_cut(hu_errors_sum *s)
{
	if (s->ntop)
		qsort(s->top, s->ntop, sizeof *s->top, descending);
	s->ntop = s->ntop < s->keep ? s->ntop : s->keep;
}

void
hu_errors_end(hu_errors *m, hu_errors_sum *s)
{
	double n = (double)s->n;
	long double sum = total(&s->ulps), error2 = total(&s->error2), magnitude2 = total(&s->magnitude2);

	if (s->m.worst == (size_t)-1)
		s->m.worst = 0;
	if (s->n) {
		s->m.ulp_mean = s->infinite ? INFINITY : (double)(sum / n);
		hu_errors_cut(s);
		s->m.ulp_p99 = s->top[s->keep - 1];
	}
	if (s->n > 1 && isfinite(s->m.ulp_mean)) {
		/* Normal approximation with the finite population correction, which gives 0 if everything was
		   judged. */
		long double var = (total(&s->ulps2) - sum * sum / n) / (n - 1);
		s->m.ci95 = 1.96 * sqrt((double)(var > 0 ? var : 0) / n * (1 - n / (double)s->of));
	}
	s->m.normwise = magnitude2 > 0 ? (double)sqrtl(error2 / magnitude2) : error2 > 0 ? INFINITY : 0;
	free(s->top);
	s->top = NULL;
	*m = s->m;
}

void
hu_errors_collect(hu_errors_sum *s, const hu_judged *j)
{
	hu_errors_begin(s, j->n, j->of);
	hu_errors_add_judged(s, j);
}

void
hu_errors_add_judged(hu_errors_sum *s, const hu_judged *j)
{
	for (size_t i = 0; i < j->n; i++) {
		one(s, j->element[i], j->error[i], j->ulps[i], fabs(j->exact[i]), j->bound[i], j->magnitude[i],
			j->over[i]);
		keep_top(s, j->ulps[i]);
	}
}

void
hu_errors_local(hu_errors *m, const hu_judged *j)
{
	hu_errors_sum s;

	hu_errors_collect(&s, j);
	hu_errors_end(m, &s);
}

void
hu_errors_merge(hu_errors_sum *to, const hu_errors_sum *part)
{
	merge(to, part);
	for (size_t i = 0; i < part->ntop; i++)
		keep_top(to, part->top[i]);
}
