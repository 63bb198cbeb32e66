/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/formats/inspect_cast.h"

#include "analyzers/formats/inspect_blocks.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };   /* elements of a task; the sums of tasks are joined in order, so that the number of threads
			       changes nothing */

/* One task. blocked is the array after the cast to a block format; NULL for other formats. */
typedef struct task { const hu_array *a; const hu_target *to; const hu_blocked *blocked; hu_cast_effect e; } task;

int
hu_cast_has_blocks(const hu_target *t)
{
	return t->format == HU_NO_FORMAT;
}

int
hu_cast_has_subnormals(const hu_target *t)
{
	return !hu_cast_has_blocks(t) || t->block.element != HU_NO_FORMAT;
}

/* Returns 1 for Adam's second moments: arrays named as in PyTorch's, Keras's and this program's checkpoints, without a
   negative element. */
static int
second_moments(const hu_array *a)
{
	static const char *const ends[] = { "_v", "_v_next", "exp_avg_sq", "square_avg", "/v", "_v:0", "/velocity",
		"_velocity" };
	size_t len = strlen(a->name), named = 0;

	for (size_t i = 0; i < sizeof ends / sizeof *ends && !named; i++)
		named = len >= strlen(ends[i]) && !strcmp(a->name + len - strlen(ends[i]), ends[i]);
	for (size_t i = 0; i < a->n && named; i++)
		named = !(hu_array_get(a, i) < 0);
	return named != 0;
}

/* Counts for a block format, whose smallest normal number depends on the scale. */
static void
count_marked(hu_cast_effect *e, double x, double got, int mark)
{
	hu_underflow *c = &e->flush.count;
	int nonzero = hu_isfinite(x) && x != 0;

	c->elements++;
	c->nonzeros += (uint64_t)nonzero;
	c->zeroed += (uint64_t)(nonzero && got == 0);
	c->subnormal += (uint64_t)(nonzero && mark & HU_MARK_SUBNORMAL);
	c->lost += (uint64_t)(nonzero && mark & HU_MARK_LOST);
	e->saturated += (mark & HU_MARK_SATURATED) != 0;
}

/* Returns 1 where x is not finite, or rounds to beyond the format's range, and the result is a number. */
static int
saturates(double x, double got, hu_format f)
{
	if (!hu_isfinite(got))
		return 0;
	return !hu_isfinite(x) || ((fabs(x) > f.max || x < 0) && hu_round_full(x, f, HU_RNE, 0, 0).flags & HU_OVERFLOW);
}

/* Adds element i, which was x before the cast and is got after it. */
static void
add(hu_cast_effect *e, size_t i, double x, double got)
{
	double m = fabs(x), error = fabs(got - x);

	e->nonfinite += !hu_isfinite(x);
	e->flush.overflow += hu_isfinite(x) && !hu_isfinite(got);
	hu_harm_add(&e->flush.harm, got, x, got == 0 && x != 0);
	if (hu_isfinite(x) && m > e->amax)
		e->amax = m;
	if (m > 0 && m < e->smallest)
		e->smallest = m;
	if (!hu_isfinite(x) || !hu_isfinite(got))
		return;
	e->finite++;
	e->error += (long double)error;
	e->error2 += (long double)error * error;
	if (error > e->max_error) {
		e->max_error = error;
		e->max_at = i;
	}
	if (e->moments && x > 0) {
		static const double eps = 1e-8; /* PyTorch's */
		double g = sqrt(x);
		long double step = g / (g + eps), change = g / (sqrt(got) + eps) - step;
		e->step2 += step * step;
		e->step_error2 += change * change;
	}
}

static void
part(task *t, size_t at, size_t n)
{
	hu_format f = hu_format_of(t->to->format);

	for (size_t i = at; i < at + n; i++) {
		double x = hu_array_get(t->a, i), got;
		if (t->blocked) {
			got = (double)t->blocked->value[i];
			count_marked(&t->e, x, got, t->blocked->mark[i]);
		} else {
			got = hu_round(x, f, HU_RNE, 0, 0);
			hu_underflow_count(&t->e.flush.count, x, got, f);
			t->e.saturated += (size_t)saturates(x, got, f);
		}
		add(&t->e, i, x, got);
	}
}

static void
join(hu_cast_effect *e, const hu_cast_effect *more)
{
	hu_flush_join(&e->flush, &more->flush);
	e->nonfinite += more->nonfinite;
	e->saturated += more->saturated;
	e->finite += more->finite;
	e->amax = more->amax > e->amax ? more->amax : e->amax;
	e->smallest = more->smallest < e->smallest ? more->smallest : e->smallest;
	if (more->max_error > e->max_error) {
		e->max_error = more->max_error;
		e->max_at = more->max_at;
	}
	e->error += more->error;
	e->error2 += more->error2;
	e->step2 += more->step2;
	e->step_error2 += more->step_error2;
}

void
hu_cast_judge(hu_cast_effect *e, const hu_array *a, const hu_target *to)
{
	const hu_cast_effect none = { .amax = -1, .smallest = INFINITY, .max_error = -1, .moments = second_moments(a) };
	size_t chunks = a->n / CHUNK + 1;
	task *t = hu_xcalloc(chunks, sizeof *t);
	hu_blocked blocked = { NULL, NULL };

	*e = none;
	if (hu_cast_has_blocks(to))
		hu_blocked_init(&blocked, a, &to->block);
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t k = 0; k < chunks; k++) {
		t[k] = (task){ .a = a, .to = to, .blocked = blocked.value ? &blocked : NULL, .e = none };
		part(&t[k], k * CHUNK, k + 1 < chunks ? CHUNK : a->n - k * CHUNK);
	}
	for (size_t k = 0; k < chunks; k++)
		join(e, &t[k].e);
	hu_blocked_release(&blocked);
	free(t);
}

/* Returns sqrt(error2 / exact2), and 0 where both are 0. */
static double
relative(long double error2, long double exact2)
{
	return error2 > 0 ? (double)sqrtl(error2 / exact2) : 0;
}

double
hu_cast_rel_l2(const hu_cast_effect *e)
{
	return e->finite ? relative(e->error2, e->flush.harm.exact2) : NAN;
}

double
hu_cast_sqnr_db(const hu_cast_effect *e)
{
	return -20 * log10(hu_cast_rel_l2(e)) + 0.0; /* + 0.0 makes -0 a 0 */
}

double
hu_cast_mean_error(const hu_cast_effect *e)
{
	return e->finite ? (double)(e->error / (long double)e->finite) : NAN;
}

double
hu_cast_share_lost(const hu_cast_effect *e)
{
	return hu_harm_share(&e->flush.harm);
}

double
hu_cast_cosine(const hu_cast_effect *e)
{
	return hu_harm_cosine(&e->flush.harm);
}

double
hu_cast_step_rel_l2(const hu_cast_effect *e)
{
	return e->moments && e->step2 > 0 ? relative(e->step_error2, e->step2) : NAN;
}
