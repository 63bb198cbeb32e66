/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/errors.h"

#include "analyzers/propagate.h"
#include "lib/base/mem.h"
#include "lib/number/ulp.h"
#include "lib/op/dd.h"

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

/* The K largest of X to its front, in any order (Hoare's find, CACM 1961). */
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
		size_t cut = j + 1;     /* first .. cut-1 are not below the others */
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
	s->floor = s->top[0];
	for (size_t i = 1; i < s->keep; i++)
		s->floor = s->top[i] < s->floor ? s->top[i] : s->floor;
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

void
hu_errors_add(hu_errors_sum *s, const hu_judging *some)
{
	hu_errors_sum part = { .m = { .worst = (size_t)-1 } };

	for (size_t i = 0; i < some->n; i++)
		one(&part, some->element[i], some->v[i].error, some->v[i].ulps, fabs(some->v[i].exact), some->bound[i], some->magnitude[i], some->v[i].over);
#pragma omp critical(hu_errors)
	{
		merge(s, &part);
		for (size_t i = 0; i < some->n; i++)
			keep_top(s, some->v[i].ulps);
	}
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
		qsort(s->top, s->ntop, sizeof *s->top, descending);
		s->m.ulp_p99 = s->top[s->keep - 1];
	}
	if (s->n > 1 && isfinite(s->m.ulp_mean)) {
		/* Normal approximation with the finite population's correction: 0 where everything was judged. */
		long double var = (total(&s->ulps2) - sum * sum / n) / (n - 1);
		s->m.ci95 = 1.96 * sqrt((double)(var > 0 ? var : 0) / n * (1 - n / (double)s->of));
	}
	s->m.normwise = magnitude2 > 0 ? (double)sqrtl(error2 / magnitude2) : error2 > 0 ? INFINITY : 0;
	free(s->top);
	s->top = NULL;
	*m = s->m;
}

void
hu_errors_local(hu_errors *m, const hu_judged *j)
{
	hu_errors_sum s;

	hu_errors_begin(&s, j->n, j->of);
	for (size_t i = 0; i < j->n; i++) {
		one(&s, j->element[i], j->error[i], j->ulps[i], fabs(j->exact[i]), j->bound[i], j->magnitude[i], j->over[i]);
		keep_top(&s, j->ulps[i]);
	}
	hu_errors_end(m, &s);
}

/* Elements FIRST … LAST-1 of the exact step's comparison. */
typedef struct step_part { hu_total error2, exact2, ulps; double ulp_max; int infinite; } step_part;

static void
step_errors(step_part *p, const hu_tensor *got, const double *ideal, size_t first, size_t last)
{
	hu_format f = hu_format_of(got->format);

	for (size_t i = first; i < last; i++) {
		double g = hu_get(got, i), ulps = hu_error_ulps(g, ideal[i], f), d = fabs(g - ideal[i]);
		p->ulp_max = ulps > p->ulp_max ? ulps : p->ulp_max;
		p->infinite |= isinf(ulps);
		if (ulps != 0 && !isinf(ulps))
			add(&p->ulps, ulps, 0);
		if (!hu_isfinite(g) || !hu_isfinite(ideal[i]))
			continue;
		if (d != 0)
			add_square(&p->error2, d);
		if (ideal[i] != 0)
			add_square(&p->exact2, fabs(ideal[i]));
	}
}

void
hu_errors_propagated(hu_errors_step *m, const hu_tensor *got, const double *ideal)
{
	enum { PART = 8192 };
	size_t parts = (got->n + PART - 1) / PART;
	step_part *p = hu_xcalloc(parts + 1, sizeof *p), all = { .ulp_max = 0 };

#pragma omp parallel for schedule(dynamic, 1) if (parts > 1)
	for (size_t b = 0; b < parts; b++)
		step_errors(&p[b], got, ideal, b * PART, got->n - b * PART < PART ? got->n : (b + 1) * PART);
	for (size_t b = 0; b < parts; b++) {
		join(&all.error2, &p[b].error2);
		join(&all.exact2, &p[b].exact2);
		join(&all.ulps, &p[b].ulps);
		all.ulp_max = larger(all.ulp_max, p[b].ulp_max);
		all.infinite |= p[b].infinite;
	}
	free(p);
	long double error2 = total(&all.error2), exact2 = total(&all.exact2);
	m->ulp_max = all.ulp_max;
	m->ulp_mean = all.infinite ? INFINITY : (double)(total(&all.ulps) / (long double)got->n);
	m->rel_normwise = exact2 > 0 ? (double)sqrtl(error2 / exact2) : error2 > 0 ? INFINITY : 0;
	m->known = !hu_is_wide(got->format) && (m->rel_normwise == 0 || m->rel_normwise >= HU_PROPAGATE_FLOOR);
}
