/* SPDX-License-Identifier: Apache-2.0
   Emulates maps: elements of the output, computed in blocks by the numeric types of their formats. */
#include "lib/op/element/map.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/op/element/map_source.h"
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

/* Loads elements first … first+n-1 of a source, in chunks whose indices do not wrap around: the first channel of the
   next one belongs to the next row. NARROW converts an element of a tensor of floats. */
#define LOAD(NAME, T, CONVERT, NARROW) \
	static void NAME(const hu_map *m, const hu_source *s, hu_format f, size_t first, size_t n, T *to) \
	{ \
		int wide = s->t && hu_is_wide(s->t->format), wraps = s->how != HU_EACH && s->how != HU_ONE; \
		size_t at = hu_source_place(m, s->how, first), channel = wraps ? first % m->channels : 0; \
		(void)f; \
		for (size_t i = 0; i < n;) { \
			size_t left = n - i; \
			if (wraps && left > m->channels - channel) \
				left = m->channels - channel; \
			if (s->how == HU_INDEX) { \
				for (size_t k = 0; k < left; k++) \
					to[i + k] = (T)CONVERT((double)(channel + k)); \
			} else if (s->how == HU_ROW || s->how == HU_ONE) { \
				T v = (T)CONVERT(hu_get(s->t, at)); \
				for (size_t k = 0; k < left; k++) \
					to[i + k] = v; \
			} else if (wide) { \
				const double *x = (const double *)s->t->data + at; \
				HU_SIMD \
				for (size_t k = 0; k < left; k++) \
					to[i + k] = (T)CONVERT(x[k]); \
			} else { \
				const float *x = (const float *)s->t->data + at; \
				HU_SIMD \
				for (size_t k = 0; k < left; k++) \
					to[i + k] = NARROW(x[k]); \
			} \
			i += left; \
			channel = 0; \
			at = s->how == HU_ROW ? at + 1 \
			     : s->how == HU_IMAGE ? hu_source_place(m, s->how, first + i) : 0; \
		} \
	}
#define AS_IS(x) (x)
#define TO_FORMAT(x) hu_rne(f, x)
#define TO_FORMAT_WIDENED(x) hu_rne(f, (double)(x))
LOAD(load_f32, float, AS_IS, AS_IS)
LOAD(load_f64, double, AS_IS, AS_IS)
LOAD(load_any, double, TO_FORMAT, TO_FORMAT_WIDENED)

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
