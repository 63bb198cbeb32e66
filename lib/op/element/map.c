/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/element/map.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/draw.h"
#include "lib/op/performed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
hu_map_init(hu_map *m, const hu_call *c, const hu_blocks *b, size_t n, size_t channels)
{
	memset(m, 0, sizeof *m);
	m->call = c;
	m->blocks = b;
	m->compute = c->fmt.compute;
	m->n = n;
	m->channels = channels ? channels : 1;
	m->image = n ? n : 1;
}

void
hu_map_add(hu_map *m, const hu_tensor *t, hu_how how)
{
	HU_ASSERT(m->nin < HU_MAP_IN);
	m->in[m->nin++] = (hu_source){ t, how, NULL, NULL };
}

static size_t
place(const hu_map *m, hu_how how, size_t i)
{
	switch (how) {
	case HU_EACH: return i;
	case HU_CHANNEL: return i % m->channels;
	case HU_ROW: return i / m->channels;
	case HU_IMAGE: return i / m->image * m->channels + i % m->channels;
	default: return 0;
	}
}

static double
operand(const hu_map *m, const hu_source *s, size_t i)
{
	return s->how == HU_INDEX ? (double)(i % m->channels) : hu_get(s->t, place(m, s->how, i));
}

/* Loads elements first … first+n-1 of a source, in chunks whose indices do not wrap around. */
#define LOAD(NAME, T, CONVERT)                                                                            \
	static void NAME(const hu_map *m, const hu_source *s, hu_format f, size_t first, size_t n, T *to) \
	{                                                                                                 \
		int wide = s->t && hu_is_wide(s->t->format);                                              \
		(void)f;                                                                                  \
		for (size_t i = 0; i < n;) {                                                              \
			size_t left = n - i, at = place(m, s->how, first + i), channel = s->how == HU_EACH || s->how == HU_ONE ? 0 : (first + i) % m->channels; \
			if (s->how != HU_EACH && s->how != HU_ONE && left > m->channels - channel)        \
				left = m->channels - channel;                                             \
			if (s->how == HU_INDEX) {                                                         \
				for (size_t k = 0; k < left; k++)                                         \
					to[i + k] = (T)CONVERT((double)(channel + k));                    \
			} else if (s->how == HU_ROW || s->how == HU_ONE) {                                \
				T v = (T)CONVERT(hu_get(s->t, at));                                       \
				for (size_t k = 0; k < left; k++)                                         \
					to[i + k] = v;                                                    \
			} else if (wide) {                                                                \
				const double *x = (const double *)s->t->data + at;                        \
				HU_SIMD                                                                   \
				for (size_t k = 0; k < left; k++)                                         \
					to[i + k] = (T)CONVERT(x[k]);                                     \
			} else {                                                                          \
				const float *x = (const float *)s->t->data + at;                          \
				HU_SIMD                                                                   \
				for (size_t k = 0; k < left; k++)                                         \
					to[i + k] = (T)CONVERT((double)x[k]);                             \
			}                                                                                 \
			i += left;                                                                        \
		}                                                                                         \
	}
#define AS_IS(x) (x)
#define TO_FORMAT(x) hu_rne(f, x)
LOAD(load_f32, float, AS_IS)
LOAD(load_f64, double, AS_IS)
LOAD(load_any, double, TO_FORMAT)

/* Counts the operations on these elements, if a test asks; a few at a time, so that the stack frame stays small. */
static void
count_block(const hu_map *m, size_t first, size_t n)
{
	enum { SOME = 32 };
	double x[HU_MAP_IN][SOME], y[HU_MAP_OUT][SOME], *out[HU_MAP_OUT] = { y[0], y[1], y[2], y[3] };
	const double *in[HU_MAP_IN];
	hu_ctx_count c;

	for (int k = 0; k < HU_CONSTANTS; k++)
		c.k[k] = m->k[k];
	for (size_t i = 0; i < n; i += SOME) {
		size_t some = n - i < SOME ? n - i : SOME;
		for (int k = 0; k < m->nin; k++) {
			load_f64(m, &m->in[k], hu_format_of(HU_FP64), first + i, some, x[k]);
			in[k] = x[k];
		}
		hu_performed_operations(m->blocks->count(&c, some, in, out));
	}
}

void
hu_map_block_f32(const hu_map *m, const hu_ctx_f32 *c, size_t first, size_t n, float *const *to)
{
	float x[HU_MAP_IN][HU_MAP_BLOCK];
	const float *in[HU_MAP_IN];

	for (int k = 0; k < m->nin; k++)
		if (m->in[k].how == HU_EACH && !hu_is_wide(m->in[k].t->format)) {
			in[k] = (const float *)m->in[k].t->data + first;
		} else {
			load_f32(m, &m->in[k], c->f, first, n, x[k]);
			in[k] = x[k];
		}
	m->blocks->f32(c, n, in, to);
	if (hu_performed_asked())
		count_block(m, first, n);
}

void
hu_map_block_f64(const hu_map *m, const hu_ctx_f64 *c, size_t first, size_t n, double *const *to)
{
	double x[HU_MAP_IN][HU_MAP_BLOCK];
	const double *in[HU_MAP_IN];
	int native = c->f.id == HU_FP64;

	for (int k = 0; k < m->nin; k++) {
		(native ? load_f64 : load_any)(m, &m->in[k], c->f, first, n, x[k]);
		in[k] = x[k];
	}
	(native ? m->blocks->f64 : m->blocks->any)(c, n, in, to);
	if (hu_performed_asked())
		count_block(m, first, n);
}

hu_ctx_f32
hu_map_context_f32(const hu_map *m)
{
	hu_ctx_f32 c = { hu_format_of(m->compute), { 0 } };

	for (int i = 0; i < m->nk; i++)
		c.k[i] = (float)m->k[i];
	return c;
}

hu_ctx_f64
hu_map_context_f64(const hu_map *m)
{
	hu_ctx_f64 c = { hu_format_of(m->compute), { 0 } };

	for (int i = 0; i < m->nk; i++)
		c.k[i] = hu_rne(c.f, m->k[i]);
	return c;
}

static void
put_f32(const hu_map *m, hu_tensor *out, const hu_stream *random, float *y, size_t first, size_t n)
{
	if (!hu_is_wide(out->format)) {
		hu_bulk_round(
			(float *)out->data + first, y, n, out->format, m->call->mode, m->call->flags, random, first);
		return;
	}
	double *d = (double *)out->data + first;
	for (size_t i = 0; i < n; i++)
		d[i] = y[i] == y[i] ? (double)y[i] : hu_nan();
}

static void
put_f64(const hu_map *m, hu_tensor *out, const hu_stream *random, double *y, size_t first, size_t n)
{
	hu_bulk_round_f64(y, y, n, out->format, m->call->mode, m->call->flags, random, first);
	if (hu_is_wide(out->format)) {
		memcpy((double *)out->data + first, y, n * sizeof(double));
		return;
	}
	for (size_t i = 0; i < n; i++)
		((float *)out->data)[first + i] = (float)y[i];
}

void
hu_map_emulate(const hu_map *m, hu_tensor *const *out, int nout, const hu_env *env)
{
	hu_stream stream = { env->seed, hu_fnv1a32(m->call->seed_name), env->step },
		  *random = hu_mode_draws(m->call->mode) ? &stream : NULL;
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (m->n > 16384)
	for (size_t first = 0; first < m->n; first += HU_MAP_BLOCK) {
		size_t n = m->n - first < HU_MAP_BLOCK ? m->n - first : HU_MAP_BLOCK;
		float y[HU_MAP_OUT][HU_MAP_BLOCK], *to[HU_MAP_OUT] = { y[0], y[1], y[2], y[3] };
		double z[HU_MAP_OUT][HU_MAP_BLOCK], *put[HU_MAP_OUT] = { z[0], z[1], z[2], z[3] };
		int f32 = m->compute == HU_FP32;
		if (f32)
			hu_map_block_f32(m, &narrow, first, n, to);
		else
			hu_map_block_f64(m, &wide, first, n, put);
		for (int k = 0; k < nout; k++)
			if (out[k] && f32)
				put_f32(m, out[k], random, y[k], first, n);
			else if (out[k])
				put_f64(m, out[k], random, z[k], first, n);
	}
}

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

double
hu_bound_of(const hu_call *c, hu_format_id format, hu_bounded x)
{
	hu_format f = hu_format_of(format);
	int nearest = c->mode == HU_RNE || c->mode == HU_RNA;
	double up, down;

	if (!(x.e < hu_inf(0)))
		return hu_inf(0);
	if (format == HU_FP32) {
		float r = (float)x.v;
		up = (double)r < x.v ? (double)nextafterf(r, INFINITY) : (double)r;
		down = (double)r > x.v ? (double)nextafterf(r, -INFINITY) : (double)r;
	} else {
		up = hu_round(x.v, f, HU_RU, 0, 0);
		down = hu_round(x.v, f, HU_RD, 0, 0);
	}
	if (up == down && x.e == 0)
		return 0;
	/* A library's value is within x.e of the exact one, but it is not x.v: its size bounds its rounding. */
	if (hu_attr_library(c) > 0 && !keeps(f, c->fmt.compute)) {
		double y = hu_up(hu_abs(x.v) + x.e), ulps = nearest ? 1 : 2;
		return y < f.max ? hu_up(x.e + ulps * (hu_unit(f) * y + hu_smallest(f) / 2)) : hu_inf(0);
	}
	x.e = hu_up(x.e + hu_abs(x.v) * 0x1p-500); /* the reference's own rounding */
	if (up == down)
		return x.e;
	/* beyond the largest finite value: may overflow, or saturate at a distance */
	if (!hu_isfinite(up) || !hu_isfinite(down))
		return (c->flags & HU_SATURATE) ? hu_up(hu_abs(x.v) - f.max + x.e) : hu_inf(0);
	return hu_up(x.e + (nearest ? (up - down) / 2 : up - down));
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
	return (hu_bounded){ x, hu_isfinite(x) ? 0 : hu_inf(0) };
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
			to[i] = hu_bounded_load(f, operand(m, s, e), s->e ? s->e[place(m, s->how, e)] : 0);
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

void
hu_map_block_run(
	const hu_map *m, const hu_ctx_bounded *c, const size_t *element, size_t first, size_t n, hu_bounded *const *y)
{
	hu_bounded x[HU_MAP_IN][HU_MAP_PART], *to[HU_MAP_OUT] = { NULL };
	const hu_bounded *in[HU_MAP_IN] = { NULL };

	for (size_t at = 0; at < n; at += HU_MAP_PART) {
		size_t part = n - at < HU_MAP_PART ? n - at : HU_MAP_PART;
		for (int k = 0; k < m->nin; k++) {
			load_run(m, &m->in[k], c->f, element, first + at, part, x[k]);
			in[k] = x[k];
		}
		for (int k = 0; k < HU_MAP_OUT; k++)
			to[k] = y[k] ? y[k] + at : NULL;
		m->blocks->run(c, part, in, to);
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

	hu_map_runs(m, element, n, nout, y);
	for (size_t i = 0; i < n; i++)
		bound[i] = hu_bound_of(m->call, format, y[i * (size_t)nout + (size_t)out]);
	free(y);
	return HU_OK;
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
					hu_exact_get(x[j], m->in[j].t, place(m, m->in[j].how, element[i]));
				else
					mpfr_set_d(x[j], operand(m, &m->in[j], element[i]), MPFR_RNDN);
			mpfr_set_prec(exact[i], HU_EXACT_BITS);
			(m->exact ? m->exact : m->blocks->exact)(
				(const mpfr_t *)k, (const mpfr_t *)x, out, exact[i]);
		}
		for (int j = 0; j < HU_MAP_IN; j++)
			mpfr_clear(x[j]);
		for (int j = 0; j < HU_CONSTANTS; j++)
			mpfr_clear(k[j]);
	}
	return HU_OK;
}
