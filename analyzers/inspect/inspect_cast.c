/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/inspect/inspect_cast.h"

#include <math.h>
#include <string.h>

int
hu_cast_has_blocks(const hu_target *t)
{
	return t->format == HU_NO_FORMAT;
}

int
hu_cast_has_axis(const hu_target *t)
{
	return hu_cast_has_blocks(t) && t->block.size;
}

int
hu_cast_has_subnormals(const hu_target *t)
{
	return !hu_cast_has_blocks(t) || t->block.element != HU_NO_FORMAT;
}

int
hu_cast_is_moment(const char *name)
{
	static const char *const ends[] = { "_v", "_v_next", "exp_avg_sq", "square_avg", "/v", "_v:0", "/velocity",
		"_velocity" };
	size_t len = strlen(name), named = 0;

	for (size_t i = 0; i < sizeof ends / sizeof *ends && !named; i++)
		named = len >= strlen(ends[i]) && !strcmp(name + len - strlen(ends[i]), ends[i]);
	return named != 0;
}

void
hu_cast_effect_init(hu_cast_effect *e)
{
	*e = (hu_cast_effect){ .amax = -1, .smallest = INFINITY, .max_error = -1, .best_scale = NAN };
}

void
hu_cast_effect_merge(hu_cast_effect *e, const hu_cast_effect *more)
{
	hu_flush_merge(&e->flush, &more->flush);
	e->nonfinite += more->nonfinite;
	e->saturated += more->saturated;
	e->finite += more->finite;
	e->amax = more->amax > e->amax ? more->amax : e->amax;
	e->smallest = more->smallest < e->smallest ? more->smallest : e->smallest;
	if (more->max_error > e->max_error ||
		(more->max_error >= 0 && more->max_error == e->max_error && more->max_at < e->max_at)) {
		e->max_error = more->max_error;
		e->max_at = more->max_at;
	}
	e->error += more->error;
	e->error2 += more->error2;
	e->moments |= more->moments;
	e->step2 += more->step2;
	e->step_error2 += more->step_error2;
	e->best_finite += more->best_finite;
	e->best_exact2 += more->best_exact2;
	e->best_error2 += more->best_error2;
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
hu_cast_best_sqnr_db(const hu_cast_effect *e)
{
	return e->best_finite ? -20 * log10(relative(e->best_error2, e->best_exact2)) + 0.0 : NAN;
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
