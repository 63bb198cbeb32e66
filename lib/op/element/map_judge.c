/* SPDX-License-Identifier: Apache-2.0
   Judges maps: bounds of the rounded result, values with their bounds, and the reference in MPFR. */
#include "lib/op/element/map.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/draw.h"
#include "lib/op/element/ddw_loops.h"
#include "lib/op/element/map_source.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

double
hu_stored(const hu_call *c, const hu_env *env, hu_format_id format, size_t i, double x)
{
	hu_stream random = { env->seed, hu_mode_draws(c->mode) ? hu_fnv1a32(c->seed_name) : 0, env->step };

	return hu_round_drawn(x, hu_format_of(format), c->mode, c->flags, random, i);
}

void
hu_store(const hu_call *c, const hu_env *env, hu_tensor *t, size_t i, double x)
{
	hu_put(t, i, hu_stored(c, env, t->format, i, x));
}

/* Returns 1 if f has every value of the format from, so that loading rounds nothing. */
static int
keeps(hu_format f, hu_format_id from)
{
	hu_format g = hu_format_of(from);

	return f.id == from ||
	       (f.p >= g.p && f.max >= g.max && hu_smallest(f) <= hu_smallest(g) && hu_has_inf(f) >= hu_has_inf(g));
}

/* What a call's bounds need of it: how it rounds its results to format f, and whether a library computed them in a
   format from which that rounding may be another one. */
typedef struct rounding { hu_format f; int nearest, saturates, other; } rounding;

static rounding
rounding_of(const hu_call *c, hu_format_id format)
{
	rounding r = { hu_format_of(format), c->mode == HU_RNE || c->mode == HU_RNA, (c->flags & HU_SATURATE) != 0, 0 };

	r.other = hu_attr_library(c) > 0 && !keeps(r.f, c->fmt.compute);
	return r;
}

static double
bound_by(const rounding *r, hu_bounded x)
{
	hu_format f = r->f;
	double gap;

	if (!(x.e < hu_inf(0)))
		return hu_inf(0);
	if (hu_bounded_endless(x))
		return hu_has_inf(f) && !r->saturates ? 0 : hu_inf(0);
	gap = hu_gap(f, x.v);
	if (gap == 0 && x.e == 0)
		return 0;
	/* A library's value is within x.e of the exact one, but it is not x.v: its size bounds its rounding. */
	if (r->other) {
		double y = hu_up(hu_abs(x.v) + x.e), ulps = r->nearest ? 1 : 2;
		return y < f.max ? hu_up(x.e + ulps * (hu_unit(f) * y + hu_smallest(f) / 2)) : hu_inf(0);
	}
	x.e = hu_up(x.e + hu_abs(x.v) * 0x1p-500); /* the reference's own rounding */
	if (gap == 0)
		return x.e;
	/* beyond the largest finite value: may overflow, or saturate at a distance */
	if (!(gap < hu_inf(0)))
		return r->saturates ? hu_up(hu_abs(x.v) - f.max + x.e) : hu_inf(0);
	return hu_up(x.e + (r->nearest ? gap / 2 : gap));
}

double
hu_bound_of(const hu_call *c, hu_format_id format, hu_bounded x)
{
	rounding r = rounding_of(c, format);

	return bound_by(&r, x);
}

void
hu_map_bounds(const hu_call *c, hu_format_id format, size_t n, const hu_bounded *x, double *bound)
{
	rounding r = rounding_of(c, format);

	for (size_t i = 0; i < n; i++)
		bound[i] = bound_by(&r, x[i]);
}

hu_ctx_bounded
hu_map_context_run(const hu_map *m)
{
	hu_ctx_bounded c = { hu_format_of(m->compute), { { 0, 0 } } };

	c.f.library = hu_attr_library(m->call);

	for (int i = 0; i < m->nk; i++)
		c.k[i] = hu_bounded_load(c.f, m->k[i], m->ke[i]);
	return c;
}

static hu_bounded
as_it_is(double x)
{
	return (hu_bounded){ x, x == x ? 0 : hu_inf(0) };
}

/* Loads elements from first on, or those of the list. For the former only the first element's index needs divisions. */
static void
load_run(
	const hu_map *m, const hu_source *s, hu_format f, const size_t *element, size_t first, size_t n, hu_bounded *to)
{
	size_t channel = first % m->channels, row = first / m->channels;

	if (element || s->how == HU_IMAGE) {
		for (size_t i = 0; i < n; i++) {
			size_t e = element ? element[first + i] : first + i;
			to[i] = hu_bounded_load(
				f, hu_source_value(m, s, e), s->e ? s->e[hu_source_place(m, s->how, e)] : 0);
		}
		return;
	}
	if (s->how == HU_EACH && !s->e && keeps(f, s->t->format)) {
		if (hu_is_wide(s->t->format))
			for (size_t i = 0; i < n; i++)
				to[i] = as_it_is(((const double *)s->t->data)[first + i]);
		else
			for (size_t i = 0; i < n; i++)
				to[i] = as_it_is((double)((const float *)s->t->data)[first + i]);
		return;
	}
	if (s->how == HU_ONE || s->how == HU_EACH) {
		for (size_t i = 0; i < n; i++) {
			size_t at = s->how == HU_ONE ? 0 : first + i;
			to[i] = hu_bounded_load(f, hu_get(s->t, at), s->e ? s->e[at] : 0);
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = s->how == HU_CHANNEL ? channel : row;
		to[i] = s->how == HU_INDEX ? hu_bounded_load(f, (double)channel, 0)
					   : hu_bounded_load(f, hu_get(s->t, at), s->e ? s->e[at] : 0);
		if (++channel == m->channels) {
			channel = 0;
			row++;
		}
	}
}

/* The formula on a part of a block, by several values at a time where there are loops for that (NULL: none). */
static void
formula(const hu_map *m, const hu_ddw_loops *loops, const hu_ctx_bounded *c, size_t n, const hu_bounded *const *in,
	hu_bounded *const *out)
{
	const hu_bounded *rest[HU_MAP_IN] = { NULL };
	hu_bounded *to[HU_MAP_OUT] = { NULL };
	size_t done = loops ? hu_ddw_loops_bounded(loops, m, c, n, in, out) : 0;

	for (int i = 0; i < m->nin; i++)
		rest[i] = in[i] + done;
	for (int i = 0; i < HU_MAP_OUT; i++)
		to[i] = out[i] ? out[i] + done : NULL;
	if (done < n)
		m->blocks->run(c, n - done, rest, to);
}

void
hu_map_block_run(
	const hu_map *m, const hu_ctx_bounded *c, const size_t *element, size_t first, size_t n, hu_bounded *const *y)
{
	hu_bounded x[HU_MAP_IN][HU_MAP_PART], *to[HU_MAP_OUT] = { NULL };
	const hu_bounded *in[HU_MAP_IN] = { NULL };
	const hu_ddw_loops *loops = hu_ddw_lanes() > 1 && n > 8 ? hu_ddw_loops_find(m->blocks) : NULL;

	for (size_t at = 0; at < n; at += HU_MAP_PART) {
		size_t part = n - at < HU_MAP_PART ? n - at : HU_MAP_PART;
		for (int k = 0; k < m->nin; k++) {
			load_run(m, &m->in[k], c->f, element, first + at, part, x[k]);
			in[k] = x[k];
		}
		for (int k = 0; k < HU_MAP_OUT; k++)
			to[k] = y[k] ? y[k] + at : NULL;
		formula(m, loops, c, part, in, to);
	}
}

void
hu_map_runs(const hu_map *m, const size_t *element, size_t n, int nout, hu_bounded *y)
{
	hu_ctx_bounded c = hu_map_context_run(m);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 4096)
	for (size_t first = 0; first < n; first += HU_MAP_BLOCK) {
		hu_bounded some[HU_MAP_OUT][HU_MAP_BLOCK], *to[HU_MAP_OUT] = { some[0], some[1], some[2], some[3] };
		size_t count = n - first < HU_MAP_BLOCK ? n - first : HU_MAP_BLOCK;
		hu_map_block_run(m, &c, element, first, count, to);
		for (size_t i = 0; i < count; i++)
			for (int k = 0; k < nout; k++)
				y[(first + i) * (size_t)nout + (size_t)k] = some[k][i];
	}
}

hu_status
hu_map_bound(const hu_map *m, int nout, int out, hu_format_id format, const size_t *element, size_t n, double *bound)
{
	hu_bounded *y = hu_xmalloc((n + 1) * (size_t)nout * sizeof *y);
	rounding r = rounding_of(m->call, format);

	hu_map_runs(m, element, n, nout, y);
	for (size_t i = 0; i < n; i++)
		bound[i] = bound_by(&r, y[i * (size_t)nout + (size_t)out]);
	free(y);
	return HU_OK;
}

/* The exponent of x's leading and of its last bit where x is finite and not 0. */
static void
extent(double x, int *first, int *last)
{
	int e;

	if (x == 0 || !hu_isfinite(x))
		return;
	(void)frexp(x, &e);
	*first = e > *first ? e : *first;
	*last = e - 53 < *last ? e - 53 : *last;
}

mpfr_prec_t
hu_map_exact_bits(const hu_tensor *t, size_t i)
{
	int first = INT_MIN, last = INT_MAX;

	extent(hu_get(t, i), &first, &last);
	for (int p = 0; p < t->lows; p++)
		extent(t->low[(size_t)p * t->n + i], &first, &last);
	return first == INT_MIN || first - last < 62 ? 64 : first - last + 2; /* a sum of parts may carry */
}

void
hu_map_exact_add(mpfr_t sum, const hu_tensor *t, size_t i)
{
	if (t->lows && mpfr_number_p(sum) && hu_isfinite(hu_get(t, i))) {
		mpfr_prec_t bits = hu_map_exact_bits(t, i), last;
		int top = 0;
		(void)frexp(hu_get(t, i), &top);
		if (!mpfr_zero_p(sum)) { /* from the larger one's first bit to the lower one's last */
			mpfr_exp_t e = mpfr_get_exp(sum), first = e > top ? e : top;
			last = top - bits < e - mpfr_min_prec(sum) ? top - bits : e - mpfr_min_prec(sum);
			bits = first - last + 2;
		}
		if (bits > mpfr_get_prec(sum))
			mpfr_prec_round(sum, bits, MPFR_RNDN);
	}
	mpfr_add_d(sum, sum, hu_get(t, i), MPFR_RNDN);
	for (int p = 0; p < t->lows; p++)
		mpfr_add_d(sum, sum, t->low[(size_t)p * t->n + i], MPFR_RNDN);
}

/* A precision for a formula of operands that were read exactly: HU_EXACT_BITS, and more where an operand is longer than
   leaves 200 of these to 1 - y^2, as where y is 1 - 2^-658. Twice as much, for formulas that cancel twice. */
static mpfr_prec_t
precision(mpfr_t *x, int n)
{
	mpfr_prec_t most = HU_EXACT_BITS - 212;

	for (int j = 0; j < n; j++)
		if (mpfr_regular_p(x[j]) && mpfr_get_prec(x[j]) > most && mpfr_min_prec(x[j]) > most)
			most = mpfr_min_prec(x[j]);
	return HU_EXACT_BITS + 2 * (most - (HU_EXACT_BITS - 212));
}

hu_status
hu_map_reference(const hu_map *m, int out, const size_t *element, size_t n, mpfr_t *exact)
{
#pragma omp parallel num_threads(hu_threads()) if (n > 256)
	{
		mpfr_t x[HU_MAP_IN], k[HU_CONSTANTS];
		for (int j = 0; j < HU_MAP_IN; j++)
			mpfr_init2(x[j], j < m->nin && m->in[j].t && m->in[j].t->lows ? HU_EXACT_BITS : 64);
		for (int j = 0; j < HU_CONSTANTS; j++) {
			mpfr_init2(k[j], m->kx[j].t ? HU_EXACT_BITS : 64);
			mpfr_set_d(k[j], m->k[j], MPFR_RNDN);
			if (m->kx[j].t)
				hu_exact_get(k[j], m->kx[j].t, m->kx[j].i);
		}
#pragma omp for schedule(static)
		for (size_t i = 0; i < n; i++) {
			for (int j = 0; j < m->nin; j++)
				if (m->in[j].t && m->in[j].t->lows)
					hu_exact_get(x[j], m->in[j].t, hu_source_place(m, m->in[j].how, element[i]));
				else
					mpfr_set_d(x[j], hu_source_value(m, &m->in[j], element[i]), MPFR_RNDN);
			mpfr_set_prec(exact[i], precision(x, m->nin));
			(m->exact ? m->exact : m->blocks->exact)((const mpfr_t *)k, (const mpfr_t *)x, out, exact[i]);
		}
		for (int j = 0; j < HU_MAP_IN; j++)
			mpfr_clear(x[j]);
		for (int j = 0; j < HU_CONSTANTS; j++)
			mpfr_clear(k[j]);
	}
	return HU_OK;
}
