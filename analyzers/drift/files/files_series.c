/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_series.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of one step, and the steps that one of the two has alone. */
typedef struct joined {
	const hu_point **a, **b;
	size_t n, gone, added;
	const char *step;
} joined;

static joined
join(const hu_metric_series *x, const hu_metric_series *y)
{
	joined j = { .a = hu_xcalloc(x->n + 1, sizeof *j.a), .b = hu_xcalloc(x->n + 1, sizeof *j.b) };
	size_t i = 0, k = 0;

	while (i < x->n || k < y->n) {
		int order = i == x->n ? 1 : k == y->n ? -1 : hu_point_order(&x->point[i], &y->point[k]);
		if (!order) {
			j.a[j.n] = &x->point[i++];
			j.b[j.n++] = &y->point[k++];
			continue;
		}
		if (!j.step)
			j.step = order < 0 ? x->point[i].step : y->point[k].step;
		if (order < 0) {
			j.gone++;
			i++;
		} else {
			j.added++;
			k++;
		}
	}
	return j;
}

static void
texts(hu_measures *m, const joined *j)
{
	memset(m, 0, sizeof *m);
	m->count = j->n;
	m->l2 = m->rel = m->abs = NAN;
	m->a = m->b = NAN;
	for (size_t i = 0; i < j->n; i++)
		if (strcmp(j->a[i]->text, j->b[i]->text)) {
			if (!m->differ++)
				m->at = i;
		}
	if (!m->differ) {
		m->l2 = m->rel = m->abs = 0;
		m->cosine = 1;
		m->sqnr = INFINITY;
	} else {
		m->cosine = m->sqnr = NAN;
		for (int k = 0; k < HU_PAIR_FORMATS; k++)
			m->ulps[k] = NAN;
		m->text = j->a[m->at]->text;
		m->text2 = j->b[m->at]->text;
	}
}

void
hu_series_measure(hu_measures *m, const hu_item *old, const hu_item *new, const hu_format_id *format, int n)
{
	joined j = join(old->series, new->series);

	if (old->series->numbers && new->series->numbers) {
		double *a = hu_xcalloc(j.n + 1, sizeof *a), *b = hu_xcalloc(j.n + 1, sizeof *b);
		for (size_t i = 0; i < j.n; i++) {
			a[i] = j.a[i]->value;
			b[i] = j.b[i]->value;
		}
		hu_pair_measure_reals(m, a, b, j.n, format, n);
		free(a);
		free(b);
	} else {
		texts(m, &j);
	}
	m->step = m->differ ? j.a[m->at]->step : NULL;
	m->gone = j.gone;
	m->added = j.added;
	m->step2 = j.step;
	free(j.a);
	free(j.b);
}
