/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/errors.h"

#include "analyzers/propagate.h"
#include "lib/base/mem.h"
#include "lib/number/ulp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void
hu_errors_local(hu_errors *m, const hu_judged *j)
{
	double *sorted = hu_xmalloc((j->n + 1) * sizeof *sorted), n = (double)j->n;
	long double sum = 0, sum2 = 0, error2 = 0, magnitude2 = 0;

	memset(m, 0, sizeof *m);
	m->worst = j->n ? j->element[0] : 0;
	for (size_t i = 0; i < j->n; i++) {
		double e = j->error[i], exact = fabs(j->exact[i]), mag = j->magnitude[i];
		double ratio = e == 0 ? 0 : isinf(j->bound[i]) ? 0 : e / j->bound[i];
		sorted[i] = j->ulps[i];
		sum += j->ulps[i];
		sum2 += (long double)j->ulps[i] * j->ulps[i];
		if (j->ulps[i] > m->ulp_max) {
			m->ulp_max = j->ulps[i];
			m->worst = j->element[i];
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
			error2 += (long double)e * e;
			magnitude2 += (long double)mag * mag;
		}
		m->over += (size_t)j->over[i];
	}
	if (j->n) {
		m->ulp_mean = (double)(sum / n);
		qsort(sorted, j->n, sizeof *sorted, ascending);
		m->ulp_p99 = sorted[(size_t)ceil(0.99 * n) - 1];
	}
	if (j->n > 1 && isfinite(m->ulp_mean)) {
		/* Normal approximation with the finite population's correction: 0 where everything was judged. */
		long double var = (sum2 - sum * sum / n) / (n - 1);
		m->ci95 = 1.96 * sqrt((double)(var > 0 ? var : 0) / n * (1 - n / (double)j->of));
	}
	m->normwise = magnitude2 > 0 ? (double)sqrtl(error2 / magnitude2) : error2 > 0 ? INFINITY : 0;
	free(sorted);
}

void
hu_errors_propagated(hu_errors_step *m, const hu_tensor *got, const double *ideal)
{
	hu_format f = hu_format_of(got->format);
	long double error2 = 0, exact2 = 0, sum = 0;

	memset(m, 0, sizeof *m);
	for (size_t i = 0; i < got->n; i++) {
		double g = hu_get(got, i), ulps = hu_error_ulps(g, ideal[i], f);
		m->ulp_max = ulps > m->ulp_max ? ulps : m->ulp_max;
		sum += ulps;
		if (hu_isfinite(g) && hu_isfinite(ideal[i])) {
			error2 += ((long double)g - ideal[i]) * ((long double)g - ideal[i]);
			exact2 += (long double)ideal[i] * ideal[i];
		}
	}
	m->ulp_mean = (double)(sum / (long double)got->n);
	m->rel_normwise = exact2 > 0 ? (double)sqrtl(error2 / exact2) : error2 > 0 ? INFINITY : 0;
	m->known = !hu_is_wide(got->format) && (m->rel_normwise == 0 || m->rel_normwise >= HU_PROPAGATE_FLOOR);
}
