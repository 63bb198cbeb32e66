/* SPDX-License-Identifier: Apache-2.0
   Sums of a map's results in double-double. Each block of rows makes one partial sum per channel; the blocks' sums are
   added in order, whichever thread made them. */
#include "lib/op/reduce/reduce.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/exact/dd/dd_vector.h"

#include <stdlib.h>
#include <string.h>

void
hu_stat_dd_init(hu_stat_dd *s, size_t n)
{
	s->t = (hu_tensor){
		.format = HU_FP64, .shape = hu_shape1(n), .n = n, .data = hu_xcalloc(n + 1, sizeof(double))
	};
	s->lo = hu_xcalloc(n + 1, sizeof(double));
	s->err = hu_xcalloc(n + 1, sizeof(double));
	s->low = (hu_low){ s->lo, s->err };
}

void
hu_stat_dd_release(hu_stat_dd *s)
{
	free(s->t.data);
	free(s->lo);
	free(s->err);
}

hu_dd
hu_stat_dd_get(const hu_stat_dd *s, size_t i)
{
	return (hu_dd){ hu_get(&s->t, i), s->lo[i], s->err[i] };
}

void
hu_stat_dd_put(hu_stat_dd *s, size_t i, hu_dd v)
{
	hu_put(&s->t, i, v.h);
	s->lo[i] = v.l;
	s->err[i] = v.e;
}

void
hu_map_add_dd(hu_map *m, const hu_stat_dd *s, hu_how how)
{
	hu_map_add(m, &s->t, how);
	m->in[m->nin - 1].low = &s->low;
}

typedef struct work { hu_dd y[HU_MAP_OUT][HU_MAP_BLOCK]; } work;

/* Adds elements first … last-1, which begin and end with a row, to one sum per channel and result. */
static void
add_rows(const hu_map *m, const hu_ctx_dd *c, size_t first, size_t last, int nout, work *w, hu_dd *sum)
{
	size_t C = m->channels, channel = 0;
	hu_dd *y[HU_MAP_OUT] = { w->y[0], w->y[1], w->y[2], w->y[3] };

	for (size_t at = first; at < last; at += HU_MAP_BLOCK) {
		size_t n = last - at < HU_MAP_BLOCK ? last - at : HU_MAP_BLOCK, to = channel;
		hu_map_block_dd(m, c, NULL, at, n, y);
		for (int k = 0; k < nout; k++) {
			hu_dd *s = sum + (size_t)k * C;
			to = channel;
			for (size_t i = 0, some; i < n; i += some) {
				some = C - to < n - i ? C - to : n - i;
				hu_dd_vector_plus(s + to, y[k] + i, some);
				to = to + some < C ? to + some : 0;
			}
		}
		channel = to;
	}
}

/* Sums the rows first … first+all-1 of every channel j to sum[k][at + j]. */
static void
columns(const hu_map *m, const hu_ctx_dd *c, size_t first, size_t all, size_t at, hu_stat_dd *sum, int nout)
{
	/* A block has about 8192 elements, fixed by the shape. */
	size_t C = m->channels, rows = 8192 / C + 1, blocks = (all + rows - 1) / rows;
	hu_dd *part = hu_xcalloc(blocks * (size_t)nout * C + 1, sizeof *part);

#pragma omp parallel num_threads(hu_threads()) if (all * C > 4096)
	{
		work *w = hu_xmalloc(sizeof *w);
#pragma omp for schedule(dynamic, 1)
		for (size_t b = 0; b < blocks; b++) {
			size_t from = b * rows, to = from + rows < all ? from + rows : all;
			add_rows(m, c, (first + from) * C, (first + to) * C, nout, w, part + b * (size_t)nout * C);
		}
		free(w);
	}
	for (int k = 0; k < nout; k++)
		for (size_t j = 0; j < C; j++) {
			hu_dd s = hu_dd_of(0);
			for (size_t b = 0; b < blocks; b++)
				s = hu_dd_add(s, part[(b * (size_t)nout + (size_t)k) * C + j]);
			hu_stat_dd_put(&sum[k], at + j, s);
		}
	free(part);
}

void
hu_sum_columns_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout)
{
	hu_ctx_dd c = hu_map_context_dd(m, in, sink);

	columns(m, &c, 0, m->n / m->channels, 0, sum, nout);
}

void
hu_sum_images_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout)
{
	hu_ctx_dd c = hu_map_context_dd(m, in, sink);
	size_t rows = m->image / m->channels;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (m->n > 16384)
	for (size_t i = 0; i < m->n / m->image; i++)
		columns(m, &c, i * rows, rows, i * m->channels, sum, nout);
}

/* Rows whose sums are made at the same time, because each waits for its last addition. */
enum { ROWS = 8, STRETCH = HU_MAP_BLOCK / ROWS };

/* The sums of some rows from r on. Short rows are a block together, of long ones each has a stretch of it. */
static void
some_rows(const hu_map *m, const hu_ctx_dd *c, size_t r, size_t some, int nout, work *w, hu_dd (*s)[ROWS])
{
	size_t C = m->channels, step = C < STRETCH ? C : STRETCH;

	memset(s, 0, HU_MAP_OUT * sizeof *s);
	for (size_t at = 0; at < C; at += step) {
		size_t n = C - at < step ? C - at : step;
		for (size_t i = 0; i < some; i += C > STRETCH ? 1 : some) {
			hu_dd *y[HU_MAP_OUT];
			for (int k = 0; k < HU_MAP_OUT; k++)
				y[k] = w->y[k] + i * step;
			hu_map_block_dd(m, c, NULL, (r + i) * C + at, C > STRETCH ? n : some * C, y);
		}
		for (int k = 0; k < nout; k++)
			hu_dd_vector_rows(s[k], w->y[k], some, step, n);
	}
}

void
hu_sum_rows_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout)
{
	hu_ctx_dd c = hu_map_context_dd(m, in, sink);
	size_t rows = m->n / m->channels;

#pragma omp parallel num_threads(hu_threads()) if (m->n > 4096)
	{
		work *w = hu_xmalloc(sizeof *w);
#pragma omp for schedule(static)
		for (size_t r = 0; r < rows; r += ROWS) {
			hu_dd s[HU_MAP_OUT][ROWS];
			size_t some = rows - r < ROWS ? rows - r : ROWS;
			some_rows(m, &c, r, some, nout, w, s);
			for (int k = 0; k < nout; k++)
				for (size_t i = 0; i < some; i++)
					hu_stat_dd_put(&sum[k], r + i, s[k][i]);
		}
		free(w);
	}
}

void
hu_map_stat_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *out, int nout)
{
	hu_ctx_dd c = hu_map_context_dd(m, in, sink);
	work *w = hu_xmalloc(sizeof *w);
	hu_dd *y[HU_MAP_OUT] = { w->y[0], w->y[1], w->y[2], w->y[3] };

	for (size_t first = 0; first < m->n; first += HU_MAP_BLOCK) {
		size_t n = m->n - first < HU_MAP_BLOCK ? m->n - first : HU_MAP_BLOCK;
		hu_map_block_dd(m, &c, NULL, first, n, y);
		for (int k = 0; k < nout; k++)
			for (size_t i = 0; i < n; i++)
				hu_stat_dd_put(&out[k], first + i, y[k][i]);
	}
	free(w);
}

hu_status
hu_stat_enclose(const hu_call *c, hu_tensor *const *in, int out, hu_format_id format, const hu_stat_dd *s,
	const hu_stat *run, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);
	double *bound = hu_xmalloc((n + 1) * sizeof *bound);

	for (size_t i = 0; i < n; i++) {
		size_t at = element ? element[i] : i;
		v[i] = hu_stat_dd_get(s, at);
		if (run)
			hu_stat_bound(c, format, run, &at, 1, &bound[i]);
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, run ? bound : NULL);
	free(v);
	free(bound);
	return st;
}
