/* SPDX-License-Identifier: Apache-2.0
   Statistics of errors against MPFR's, of the same values in one list, in pieces of any size and order, and in parts
   that are joined: all figures, for values whose squares leave double's range, that are not finite, or equal. */
#include "lib/judge/errors.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 70000 };

/* Judged values in arrays, and in how many elements of a tensor they are a sample. */
typedef struct values {
	size_t n, of;
	size_t element[MOST];
	double exact[MOST], error[MOST], ulps[MOST], bound[MOST], magnitude[MOST];
	unsigned char over[MOST];
} values;

static double
uniform(size_t i, uint32_t what)
{
	return (hu_random_at(11, what, 0, (uint32_t)i).w[0] + 1.0) * 0x1p-32;
}

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* s = the sum of x, or of its squares (POWER 2), over the elements at which x and WITH are finite; NULL: over all. */
static void
sum(mpfr_t s, const double *x, const double *with, size_t n, int power)
{
	mpfr_t t;

	mpfr_init2(t, 5000);
	mpfr_set_zero(s, 1);
	for (size_t i = 0; i < n; i++) {
		if (with && !(isfinite(x[i]) && isfinite(with[i])))
			continue;
		mpfr_set_d(t, x[i], MPFR_RNDN);
		if (power == 2)
			mpfr_sqr(t, t, MPFR_RNDN);
		mpfr_add(s, s, t, MPFR_RNDN);
	}
	mpfr_clear(t);
}

/* The statistics by their definitions in errors.h. */
static hu_errors
by_mpfr(const values *v)
{
	hu_errors m = { .worst = 0 };
	double n = (double)v->n, *sorted = hu_xmalloc((v->n + 1) * sizeof *sorted);
	mpfr_t a, b, c;
	int found = 0;

	mpfr_inits2(5000, a, b, c, (mpfr_ptr)NULL);
	for (size_t i = 0; i < v->n; i++) {
		double x = fabs(v->exact[i]);
		sorted[i] = v->ulps[i];
		if (!found || v->ulps[i] > m.ulp_max || (v->ulps[i] == m.ulp_max && v->element[i] < m.worst)) {
			m.ulp_max = v->ulps[i];
			m.worst = v->element[i];
			found = 1;
		}
		m.rel_max = fmax(m.rel_max, x > 0 ? v->error[i] / x : 0);
		m.condition_max = fmax(m.condition_max, x > 0 ? v->magnitude[i] / x : 0);
		m.componentwise = fmax(m.componentwise, v->error[i] > 0 ? v->error[i] / v->magnitude[i] : 0);
		if (v->error[i] > 0)
			m.ratio_max = fmax(m.ratio_max, v->error[i] / v->bound[i]);
		m.over += v->over[i];
	}
	qsort(sorted, v->n, sizeof *sorted, descending);
	/* the smallest value that 99 % of all do not exceed */
	m.ulp_p99 = v->n ? sorted[v->n - (size_t)ceil(0.99 * n)] : 0;
	sum(a, v->ulps, NULL, v->n, 1);
	sum(b, v->ulps, NULL, v->n, 2);
	mpfr_sqr(c, a, MPFR_RNDN);
	mpfr_div_d(c, c, n, MPFR_RNDN);
	mpfr_sub(b, b, c, MPFR_RNDN);
	mpfr_div_d(b, b, (n - 1) * n, MPFR_RNDN);
	mpfr_mul_d(b, b, 1 - n / (double)v->of, MPFR_RNDN);
	mpfr_sqrt(b, b, MPFR_RNDN);
	mpfr_div_d(a, a, n, MPFR_RNDN);
	m.ulp_mean = v->n ? mpfr_get_d(a, MPFR_RNDN) : 0;
	m.ci95 = v->n > 1 && isfinite(m.ulp_mean) ? 1.96 * mpfr_get_d(b, MPFR_RNDN) : 0;
	sum(a, v->error, v->magnitude, v->n, 2);
	sum(b, v->magnitude, v->error, v->n, 2);
	mpfr_div(c, a, b, MPFR_RNDN);
	mpfr_sqrt(c, c, MPFR_RNDN);
	m.normwise = mpfr_zero_p(b) ? (mpfr_zero_p(a) ? 0 : INFINITY) : mpfr_get_d(c, MPFR_RNDN);
	mpfr_clears(a, b, c, (mpfr_ptr)NULL);
	free(sorted);
	return m;
}

static int
near(double a, double b, double share)
{
	return a == b || fabs(a - b) <= share * fabs(b);
}

static void
equal(const hu_errors *got, const hu_errors *want, const char *name, const char *how)
{
	int good = got->ulp_max == want->ulp_max && got->worst == want->worst && got->ulp_p99 == want->ulp_p99 &&
		   got->rel_max == want->rel_max && got->condition_max == want->condition_max &&
		   got->componentwise == want->componentwise && got->ratio_max == want->ratio_max &&
		   got->over == want->over && near(got->ulp_mean, want->ulp_mean, 0x1p-52) &&
		   near(got->normwise, want->normwise, 0x1p-52) && near(got->ci95, want->ci95, 0x1p-40);

	if (!ok(good, "%s, %s: every figure is MPFR's", name, how)) {
		const hu_errors *both[2] = { got, want };
		for (int i = 0; i < 2; i++)
			diag("%a at %zu, mean %a, p99 %a, ci %a, rel %a, norm %a, comp %a, cond %a, ratio %a, over %zu",
				both[i]->ulp_max, both[i]->worst, both[i]->ulp_mean, both[i]->ulp_p99, both[i]->ci95,
				both[i]->rel_max, both[i]->normwise, both[i]->componentwise,
				both[i]->condition_max, both[i]->ratio_max, both[i]->over);
	}
}

static hu_judging
piece(values *v, size_t first, size_t n)
{
	return (hu_judging){ .n = n, .element = v->element + first, .exact = v->exact + first,
		.error = v->error + first, .ulps = v->ulps + first, .bound = v->bound + first,
		.magnitude = v->magnitude + first, .over = v->over + first };
}

/* All of v in one list, in pieces of SIZE from the last to the first, and in three parts that are joined. */
static void
three_ways(values *v, size_t size, const char *name)
{
	hu_errors want = by_mpfr(v), got = { 0 };
	hu_errors_sum s, part;
	hu_judged all = { .n = v->n, .of = v->of, .element = v->element, .exact = v->exact, .error = v->error,
		.ulps = v->ulps, .bound = v->bound, .magnitude = v->magnitude, .over = (char *)v->over };

	hu_errors_local(&got, &all);
	equal(&got, &want, name, "in one list");
	hu_errors_begin(&s, v->n, v->of);
	hu_judging whole = piece(v, 0, v->n);
	hu_errors_add(&s, &whole);
	hu_errors_end(&got, &s);
	equal(&got, &want, name, "all at once");
	hu_errors_begin(&s, v->n, v->of);
	for (size_t last = v->n; last;) {
		size_t n = last % size ? last % size : size;
		last -= n;
		hu_judging some = piece(v, last, n);
		hu_errors_add(&s, &some);
	}
	hu_errors_end(&got, &s);
	equal(&got, &want, name, "in pieces");
	hu_errors_begin(&s, v->n, v->of);
	for (size_t k = 3; k--;) {
		size_t first = v->n * k / 3, n = v->n * (k + 1) / 3 - first;
		hu_judging some = piece(v, first, n);
		hu_errors_begin(&part, v->n, v->of);
		hu_errors_add(&part, &some);
		hu_errors_cut(&part);
		int order = part.ntop <= part.keep;
		for (size_t i = 1; i < part.ntop; i++)
			order &= part.top[i] <= part.top[i - 1];
		if (!order)
			ok(0, "%s: what a part keeps is sorted and no more than needed", name);
		hu_errors_merge(&s, &part);
		free(part.top);
	}
	hu_errors_end(&got, &s);
	equal(&got, &want, name, "in parts that are joined");
}

/* n values with errors of a few ulps, some 0, some far; MANY equal largest ones. */
static void
ordinary(values *v, size_t n, size_t of, int many)
{
	v->n = n;
	v->of = of;
	for (size_t i = 0; i < n; i++) {
		v->element[i] = 3 * (n - i) + 1;
		v->exact[i] = i % 17 == 3 ? 0 : (uniform(i, 1) - 0.5) * exp2((double)(i % 21) - 10);
		v->magnitude[i] = fabs(v->exact[i]) * (1 + 100 * uniform(i, 2)) + 0x1p-30;
		v->ulps[i] = i % 5 == 2 ? 0 : floor(uniform(i, 3) * 4096) / 8;
		if (many && i % 7 == 6)
			v->ulps[i] = 600;
		v->error[i] = v->ulps[i] * 0x1p-40 * uniform(i, 4);
		v->bound[i] = i % 29 == 4 ? INFINITY : 0x1p-32 * (0.5 + uniform(i, 5));
		v->over[i] = v->error[i] > v->bound[i];
	}
}

int
main(void)
{
	static values v;

	ordinary(&v, 5000, 90000, 0);
	three_ways(&v, 700, "a sample of 5000");
	ordinary(&v, 5000, 5000, 1);
	three_ways(&v, 1024, "a whole tensor with many largest errors");
	for (size_t n = 1; n < 20; n++) {
		char name[40];
		snprintf(name, sizeof name, "%zu values", n);
		ordinary(&v, n, n + n % 3, n % 2);
		three_ways(&v, 5, name);
	}
	ordinary(&v, 100, 101, 0);
	three_ways(&v, 99, "100 values");
	ordinary(&v, 101, 300, 0);
	three_ways(&v, 50, "101 values");
	/* far beyond the range of squares, at places where a loop of 8 lanes has to make way and may go on again */
	static const double far[][4] = { { 0x1p600, 0x1p610, 0x1p620, 0x1p-3 }, { 0x1p-600, 0x1p-610, 0x1p-590, 2 },
		{ 0x1p-480, 0x1p-480, 0x1p480, 4 }, { 0x1p480, 0x1p480, 0x1p481, 0x1p480 } };
	for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
		char name[40];
		ordinary(&v, 2000, 4000, 0);
		for (size_t i = k < 2 ? 600 : 0; i < v.n; i += 600) {
			v.error[i] = far[k][0];
			v.exact[i] = far[k][1];
			v.magnitude[i] = far[k][2];
			v.ulps[i] = far[k][3];
			v.bound[i] = far[k][0] * 2;
		}
		snprintf(name, sizeof name, "values of %a", far[k][0]);
		three_ways(&v, 1500, name);
	}
	for (size_t i = 0; i < v.n; i++) { /* all of them are so small that no square of theirs is a double */
		v.error[i] *= 0x1p-700;
		v.magnitude[i] *= 0x1p-700;
		v.exact[i] *= 0x1p-700;
	}
	three_ways(&v, 999, "tiny values alone");
	ordinary(&v, 2000, 2000, 0);
	v.error[700] = v.ulps[700] = INFINITY;
	v.exact[1300] = -INFINITY;
	v.magnitude[1300] = INFINITY;
	v.error[1300] = v.ulps[1300] = 0;
	v.over[700] = 1;
	three_ways(&v, 640, "an infinite error and an exact infinity");
	ordinary(&v, 300, 300, 0);
	for (size_t i = 0; i < v.n; i++)
		v.magnitude[i] = v.exact[i] = 0;
	three_ways(&v, 100, "errors of 0");
	for (size_t i = 0; i < v.n; i++)
		v.error[i] = v.ulps[i] = v.over[i] = 0;
	three_ways(&v, 100, "no error of 0");
	ordinary(&v, 0, 10, 0);
	three_ways(&v, 100, "no values");
	/* sums of 2^16 squares of 2^-66 of the first: long double would forget every one of them */
	v.n = v.of = 65536;
	for (size_t i = 0; i < v.n; i++) {
		v.element[i] = i;
		v.exact[i] = v.magnitude[i] = v.bound[i] = i ? 0x1p-33 : 1;
		v.error[i] = i ? 0 : 1;
		v.ulps[i] = i ? 0x1p-66 : 1;
		v.over[i] = 0;
	}
	three_ways(&v, 65536, "many small ones beside a large one");
	return done_testing();
}
