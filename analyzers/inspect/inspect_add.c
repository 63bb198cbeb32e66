/* SPDX-License-Identifier: Apache-2.0
   A part of a task, whose sums are in double, enters the effect of a cast. */
#include "analyzers/inspect/inspect_tasks.h"

#include <math.h>

/* The sums once more in long double, where squares leave the range of doubles. */
static void
add_widely(hu_cast_effect *e, const double *x, const double *got, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		long double error = fabsl((long double)(got[i] - x[i]));
		hu_harm_add(&e->flush.harm, got[i], x[i], got[i] == 0 && x[i] != 0);
		if (hu_isfinite(x[i]) && hu_isfinite(got[i])) {
			e->error += error;
			e->error2 += error * error;
		}
	}
}

static void
add_steps(hu_cast_effect *e, const double *x, const double *got, size_t n)
{
	static const double eps = 1e-8; /* PyTorch's */

	for (size_t i = 0; i < n; i++)
		if (x[i] > 0 && hu_isfinite(x[i]) && hu_isfinite(got[i])) {
			double g = sqrt(x[i]);
			long double step = g / (g + eps), change = g / (sqrt(got[i]) + eps) - step;
			e->step2 += step * step;
			e->step_error2 += change * change;
		}
}

/* Sets where the largest error of part s is, among the elements at places from `at` on: the first in the array. */
static void
find(hu_cast_effect *e, const hu_cast_sums *s, const hu_inspect_job *j, const double *x, const double *got, size_t at,
	size_t n)
{
	int found = s->max_error == e->max_error;

	for (size_t i = 0; i < n; i++)
		if (hu_isfinite(x[i]) && hu_isfinite(got[i]) && fabs(got[i] - x[i]) == s->max_error) {
			size_t is = hu_inspect_element(j->a, at + i);
			if (!found || is < e->max_at)
				e->max_at = is;
			found = 1;
			if (j->a->inner == 1)
				break;
		}
	e->max_error = s->max_error;
}

static void
add(hu_cast_effect *e, const hu_inspect_job *j, int k, const double *x, const double *got, size_t at, size_t n)
{
	const double never[2] = { INFINITY, INFINITY };
	hu_format f = hu_format_of(j->to[k].format);
	int plain = !hu_cast_has_blocks(&j->to[k]);
	hu_underflow *c = &e->flush.count;
	hu_harm *h = &e->flush.harm;
	hu_cast_sums s;

	j->loops->sums(&s, x, got, (n + 7) / 8 * 8, plain ? hu_smallest_normal(f) : 0, plain ? j->above[k] : never);
	s.finite -= (n + 7) / 8 * 8 - n;
	c->elements += n;
	c->nonzeros += s.nonzeros;
	c->zeroed += s.zeroed;
	c->subnormal += s.subnormal;
	c->lost += s.lost;
	c->flushed += plain ? s.zeroed + s.subnormal : 0;
	e->flush.overflow += s.overflow;
	e->nonfinite += s.nonfinite;
	e->saturated += s.saturated;
	e->finite += s.finite;
	e->amax = s.nonfinite < n && s.amax > e->amax ? s.amax : e->amax;
	e->smallest = s.smallest < e->smallest ? s.smallest : e->smallest;
	if (s.finite && (s.max_error > e->max_error || (s.max_error == e->max_error && j->a->inner > 1)))
		find(e, &s, j, x, got, at, n);
	if (s.amax > 0x1p500 || s.smallest < 0x1p-450) { /* of whose errors the squares are normal doubles too */
		add_widely(e, x, got, n);
	} else {
		h->exact2 += s.exact2;
		h->got2 += s.got2;
		h->lost2 += s.lost2;
		h->dot += s.dot;
		h->nonfinite += n - s.finite;
		e->error += s.error;
		e->error2 += s.error2;
	}
	if (e->moments)
		add_steps(e, x, got, n);
}

void
hu_inspect_add_task(hu_cast_effect *e, const hu_inspect_job *j, int k, const hu_inspect_desk *d, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i += HU_INSPECT_PART) {
		size_t m = n - i < HU_INSPECT_PART ? n - i : HU_INSPECT_PART;
		add(e, j, k, d->x + i, d->got + i, at + i, m);
	}
}

void
hu_inspect_merge_effects(void *all, const void *part, const hu_inspect_job *j)
{
	hu_cast_effect *e = all;
	const hu_cast_effect *more = part;

	for (int i = 0; i < j->n; i++)
		hu_cast_effect_merge(&e[i], &more[i]);
}
