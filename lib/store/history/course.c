/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/history/course.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* F(1, n - 2) is above 30 by chance in one of 200 splits at n = 6, and of 10 000 at n = 20. */
enum { F_LIMIT = 30 };

hu_status
hu_courses_fit(const hu_table *t, const char *path)
{
	if (hu_table_column(t, "commit") == 0 && hu_table_column(t, "value") == 3)
		return HU_OK;
	return hu_fail(
		HU_EFILE, "%s: no history of check: its columns are not commit, date, quantity, value", hu_shown(path));
}

/* Tables list the quantities of a commit in one order, so the one behind *LAST, which was found before, is tried first.
 */
static hu_course *
find(hu_courses *h, const char *key, size_t *last)
{
	size_t i = *last + 1 < h->n && !strcmp(h->q[*last + 1].key, key) ? *last + 1 : 0;

	while (i < h->n && strcmp(h->q[i].key, key))
		i++;
	*last = i;
	if (i < h->n)
		return &h->q[i];
	HU_GROW(h->q, h->n, h->cap);
	h->q[h->n] = (hu_course){ .key = key, .step = NAN, .call = NAN };
	return &h->q[h->n++];
}

size_t
hu_courses_place(const hu_courses *c, const char *commit)
{
	size_t k = 0;

	while (k < c->commits && strcmp(c->commit[k], commit))
		k++;
	return k;
}

/* Adds row I of T. */
static void
add(hu_course *c, const hu_table *t, int i)
{
	size_t n = c->n;

	HU_GROW(c->value, n, c->cap[0]);
	HU_GROW(c->commit, n, c->cap[1]);
	HU_GROW(c->date, n, c->cap[2]);
	HU_GROW(c->low, n, c->cap[3]);
	HU_GROW(c->high, n, c->cap[4]);
	c->value[n] = hu_table_real(t, i, 3);
	c->commit[n] = hu_table_cell(t, i, 0);
	c->date[n] = hu_table_cell(t, i, 1);
	c->low[n] = hu_table_real(t, i, hu_table_column(t, "low"));
	c->high[n] = hu_table_real(t, i, hu_table_column(t, "high"));
	c->n++;
}

static double
squares(const double *x, size_t from, size_t to, double *mean)
{
	double sum = 0, s = 0;

	for (size_t i = from; i < to; i++)
		sum += x[i] - x[from]; /* relative to the first: equal values leave exactly nothing */
	*mean = x[from] + sum / (double)(to - from);
	for (size_t i = from; i < to; i++)
		s += (x[i] - *mean) * (x[i] - *mean);
	return s;
}

static void
change_point(hu_course *c)
{
	double all, least = INFINITY, a, b, total = c->n ? squares(c->value, 0, c->n, &all) : 0;

	for (size_t k = 1; k < c->n && total > 0; k++) {
		double within = squares(c->value, 0, k, &a) + squares(c->value, k, c->n, &b);
		if (within < least) {
			least = within;
			c->split = k;
			c->before = a;
			c->after = b;
		}
	}
	if (c->split && least > 0 && !((total - least) * (double)(c->n - 2) > F_LIMIT * least))
		c->split = 0;
}

static void
add_commit(hu_courses *h, const char *commit, const char *date)
{
	if (hu_courses_place(h, commit) < h->commits)
		return;
	HU_GROW(h->commit, h->commits, h->commits_cap);
	HU_GROW(h->date, h->commits, h->dates_cap);
	h->commit[h->commits] = commit;
	h->date[h->commits++] = date;
}

static void
add_table(hu_courses *h, const hu_table *t, int headline)
{
	const char *last = "";
	size_t found = 0;
	int step = hu_table_column(t, "step"), call = hu_table_column(t, "call");

	for (int i = 0; i < t->rows; i++) {
		hu_course *c = find(h, hu_table_cell(t, i, 2), &found);
		if (strcmp(last, hu_table_cell(t, i, 0)) != 0)
			add_commit(h, hu_table_cell(t, i, 0), hu_table_cell(t, i, 1));
		last = hu_table_cell(t, i, 0);
		c->headline |= headline;
		if (step >= 0)
			c->step = hu_table_real(t, i, step);
		if (call >= 0)
			c->call = hu_table_real(t, i, call);
		if (isfinite(hu_table_real(t, i, 3)))
			add(c, t, i);
	}
}

void
hu_courses_of(hu_courses *h, const hu_table *t, const hu_table *gated)
{
	*h = (hu_courses){ .n = 0 };
	add_table(h, t, 1);
	if (gated)
		add_table(h, gated, 0);
	for (size_t i = 0; i < h->n; i++)
		change_point(&h->q[i]);
}

void
hu_courses_release(hu_courses *h)
{
	for (size_t i = 0; i < h->n; i++) {
		hu_course *c = &h->q[i];
		free(c->value);
		free(c->commit);
		free(c->date);
		free(c->low);
		free(c->high);
	}
	free(h->commit);
	free(h->date);
	free(h->q);
	*h = (hu_courses){ .n = 0 };
}
