/* SPDX-License-Identifier: Apache-2.0
   Element-by-element operators in double-double: blocks of operands with their trailing parts, the operator's formula,
   and the bound on what the emulation did. */
#include "lib/op/element/map.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/element/ddw_loops.h"
#include "lib/op/element/map_source.h"

#include <stdlib.h>
#include <string.h>

void
hu_map_certify(hu_map *m, int i, hu_dd k)
{
	m->kd[i] = k;
	m->certified |= 1u << i;
}

hu_ctx_dd
hu_map_context_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink)
{
	hu_ctx_dd c;

	m->loops = hu_ddw_lanes() > 1 ? hu_ddw_loops_find(m->blocks) : NULL;
	for (int i = 0; i < HU_CONSTANTS; i++)
		c.k[i] = m->certified >> i & 1 ? m->kd[i] : hu_dd_of(m->k[i]);
	for (int j = 0; sink && sink->low && j < m->nin; j++)
		for (int k = 0; k < m->call->nin; k++)
			if (!m->in[j].low && m->in[j].t == in[k])
				m->in[j].low = &sink->low[k];
	return c;
}

static hu_dd
value(const hu_source *s, size_t i)
{
	return (hu_dd){ hu_get(s->t, i), s->low && s->low->lo ? s->low->lo[i] : 0,
		s->low && s->low->err ? s->low->err[i] : 0 };
}

static void
load_list(const hu_map *m, const hu_source *s, const size_t *element, size_t n, hu_dd *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = s->how == HU_INDEX ? hu_dd_of((double)(element[i] % m->channels))
					   : value(s, hu_source_place(m, s->how, element[i]));
}

/* Only the first element's index needs divisions. */
static void
load(const hu_map *m, const hu_source *s, size_t first, size_t n, hu_dd *to)
{
	size_t channel = first % m->channels, row = first / m->channels, image = first % m->image,
	       at = hu_source_place(m, s->how, first);

	if (s->how == HU_EACH) {
		const double *lo = s->low && s->low->lo ? s->low->lo + first : NULL,
			     *err = s->low && s->low->err ? s->low->err + first : NULL;
		const double *hi = hu_is_wide(s->t->format) ? (const double *)s->t->data + first : NULL;
		if (hi && lo && err) { /* the exact step's, which are most */
			for (size_t i = 0; i < n; i++)
				to[i] = (hu_dd){ hi[i], lo[i], err[i] };
			return;
		}
		if (hi)
			for (size_t i = 0; i < n; i++)
				to[i] = (hu_dd){ hi[i], 0, 0 };
		else
			for (size_t i = 0; i < n; i++)
				to[i] = (hu_dd){ (double)((const float *)s->t->data)[first + i], 0, 0 };
		for (size_t i = 0; lo && i < n; i++)
			to[i].l = lo[i];
		for (size_t i = 0; err && i < n; i++)
			to[i].e = err[i];
		return;
	}
	if (s->how == HU_ONE) {
		hu_dd x = value(s, 0);
		for (size_t i = 0; i < n; i++)
			to[i] = x;
		return;
	}
	if (s->how == HU_CHANNEL) { /* one period of the channels at a time */
		for (size_t i = 0, c = channel; i < n; c = 0) {
			size_t some = m->channels - c < n - i ? m->channels - c : n - i;
			if (i >= m->channels) {
				memcpy(to + i, to + i - m->channels, some * sizeof *to);
				i += some;
				continue;
			}
			for (size_t k = 0; k < some; k++, i++)
				to[i] = value(s, c + k);
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		to[i] = s->how == HU_INDEX ? hu_dd_of((double)channel)
					   : value(s, s->how == HU_CHANNEL ? channel
						      : s->how == HU_ROW   ? row
									   : at);
		at++;
		if (++channel == m->channels) {
			channel = 0;
			row++;
			at -= m->channels;
		}
		if (++image == m->image) {
			image = 0;
			at = (first + i + 1) / m->image * m->channels;
		}
	}
}

/* The formula on a part of a block. */
static void
formula(const hu_map *m, const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out)
{
	const hu_dd *rest[HU_MAP_IN] = { NULL };
	hu_dd *to[HU_MAP_OUT] = { NULL };
	size_t done = m->loops ? hu_ddw_loops_run(m->loops, m, c, n, in, out) : 0;

	for (int i = 0; i < m->nin; i++)
		rest[i] = in[i] + done;
	for (int i = 0; i < HU_MAP_OUT; i++)
		to[i] = out[i] ? out[i] + done : NULL;
	if (done < n)
		m->blocks->dd(c, n - done, rest, to);
}

void
hu_map_block_dd(const hu_map *m, const hu_ctx_dd *c, const size_t *element, size_t first, size_t n, hu_dd *const *y)
{
	hu_dd x[HU_MAP_IN][HU_MAP_PART], *to[HU_MAP_OUT] = { NULL };
	const hu_dd *in[HU_MAP_IN] = { NULL };

	for (size_t at = 0; at < n; at += HU_MAP_PART) {
		size_t part = n - at < HU_MAP_PART ? n - at : HU_MAP_PART;
		for (int k = 0; k < m->nin; k++) {
			if (element)
				load_list(m, &m->in[k], element + first + at, part, x[k]);
			else
				load(m, &m->in[k], first + at, part, x[k]);
			in[k] = x[k];
		}
		for (int k = 0; k < HU_MAP_OUT; k++)
			to[k] = y[k] ? y[k] + at : NULL;
		formula(m, c, part, in, to);
	}
}

typedef struct work {
	hu_dd y[HU_MAP_OUT][HU_MAP_BLOCK];
	hu_bounded run[HU_MAP_OUT][HU_MAP_BLOCK];
	double hi[HU_MAP_BLOCK], lo[HU_MAP_BLOCK], err[HU_MAP_BLOCK], bound[HU_MAP_BLOCK], magnitude[HU_MAP_BLOCK];
	size_t element[HU_MAP_BLOCK];
} work;

static hu_status
bounds(work *w, const hu_map *m, const hu_ctx_bounded *c, hu_tensor *const *in, int out, hu_format_id format,
	const size_t *element, size_t first, hu_tile *t)
{
	const hu_op *op = m->call->op;
	hu_bounded *y[HU_MAP_OUT] = { w->run[0], w->run[1], w->run[2], w->run[3] };

	t->bound = w->bound;
	hu_map_block_run(m, c, element, first, t->n, y);
	hu_map_bounds(m->call, format, t->n, y[out], w->bound);
	if (!HU_COLUMN(op, magnitude))
		return HU_OK;
	t->magnitude = w->magnitude;
	for (size_t i = 0; i < t->n; i++)
		w->element[i] = element ? element[first + i] : first + i;
	return HU_COLUMN(op, magnitude)(m->call, in, out, w->element, t->n, w->magnitude);
}

hu_status
hu_map_enclose(hu_map *exact, const hu_map *bound, hu_tensor *const *in, int out, hu_format_id format,
	const size_t *element, size_t n, hu_sink *sink)
{
	hu_ctx_dd c = hu_map_context_dd(exact, in, sink);
	hu_ctx_bounded run;
	hu_status st = HU_OK;
	size_t from = 0; /* the first element, where they are a stretch */

	if (sink->some.last && !sink->some.row) {
		from = sink->some.first;
		element = NULL;
	}

	if (sink->bounds)
		run = hu_map_context_run(bound);
#pragma omp parallel num_threads(hu_threads()) if (n > 1024)
	{
		work *w = hu_xmalloc(sizeof *w);
#pragma omp for schedule(dynamic, 4)
		for (size_t first = 0; first < n; first += HU_MAP_BLOCK) {
			hu_tile t = { n - first < HU_MAP_BLOCK ? n - first : HU_MAP_BLOCK, first, NULL, w->hi, w->lo,
				w->err, NULL, NULL };
			hu_dd *y[HU_MAP_OUT] = { w->y[0], w->y[1], w->y[2], w->y[3] };
			hu_status mine = HU_OK;
			if (sink->hi && !element && !sink->some.last) {
				t.hi = sink->hi + first;
				t.lo = sink->lo + first;
				t.err = sink->err + first;
			}
			size_t done = exact->loops && !element
					      ? hu_ddw_loops_apart(exact, &c, from + first, t.n, out, t.hi, t.lo, t.err)
					      : 0;
			if (done < t.n)
				hu_map_block_dd(exact, &c, element, from + first + done, t.n - done, y);
			for (size_t i = done; i < t.n; i++) {
				t.hi[i] = y[out][i - done].h;
				t.lo[i] = y[out][i - done].l;
				t.err[i] = y[out][i - done].e;
			}
			if (sink->bounds)
				mine = bounds(w, bound, &run, in, out, format, element, from + first, &t);
			if (mine == HU_OK)
				sink->take(sink, &t);
			else
#pragma omp atomic write
				st = mine;
		}
		free(w);
	}
	return st;
}

hu_status
hu_enclose_list(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink,
	const hu_dd *v, const double *bound)
{
	double *room = sink->bounds ? hu_xcalloc(5 * n + 1, sizeof *room) : hu_xmalloc((3 * n + 1) * sizeof *room);
	size_t *all = element || !sink->bounds ? NULL : hu_xmalloc((n + 1) * sizeof *all);
	hu_tile t = { n, 0, NULL, room, room + n, room + 2 * n, NULL, NULL };
	hu_status st = HU_OK;

	for (size_t i = 0; i < n; i++) {
		t.hi[i] = v[i].h;
		t.lo[i] = v[i].l;
		t.err[i] = v[i].e;
		if (all)
			all[i] = i;
	}
	if (sink->bounds) {
		t.bound = room + 3 * n;
		if (bound)
			memcpy(t.bound, bound, n * sizeof *bound);
		else if (HU_COLUMN(c->op, bound))
			st = HU_COLUMN(c->op, bound)(c, in, out, element ? element : all, n, t.bound);
		if (st == HU_OK && HU_COLUMN(c->op, magnitude)) {
			t.magnitude = room + 4 * n;
			st = HU_COLUMN(c->op, magnitude)(c, in, out, element ? element : all, n, t.magnitude);
		}
	}
	if (st == HU_OK)
		sink->take(sink, &t);
	free(room);
	free(all);
	return st;
}

hu_status
hu_map_reference_same(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	(void)c;
	(void)out;
	for (size_t i = 0; i < n; i++)
		hu_exact_get(exact[i], in[0], element ? element[i] : i);
	return HU_OK;
}

hu_status
hu_map_enclose_same(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);

	for (size_t i = 0; i < n; i++)
		v[i] = hu_operand_dd(sink, in, 0, element ? element[i] : i);
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}
