/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/reduce/reduce.h"

#include "lib/op/reduce/summed.h"

#include "lib/op/performed.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/contract/contract.h"

#include <stdlib.h>

#define HU_T float
#define HU_CTX hu_ctx_f32
#define HU_X(name) name##_f32
#define HU_PLUS(f, a, b) ((a) + (b))
#define HU_TERMS hu_map_block_f32
#include "lib/op/reduce/reduce.inc"
#undef HU_T
#undef HU_CTX
#undef HU_X
#undef HU_TERMS
#define HU_T double
#define HU_CTX hu_ctx_f64
#define HU_X(name) name##_f64
#define HU_TERMS hu_map_block_f64
#include "lib/op/reduce/reduce.inc"
#undef HU_X
#undef HU_PLUS
#define HU_X(name) name##_any
#define HU_PLUS(f, a, b) hu_rne(f, (a) + (b))
#include "lib/op/reduce/reduce.inc"

hu_stat
hu_stat_new(size_t n, int with_errors)
{
	hu_stat s;

	s.t.format = HU_FP64;
	s.t.shape = hu_shape1(n);
	s.t.n = n;
	s.t.data = hu_xcalloc(n + 1, sizeof(double));
	s.e = with_errors ? hu_xcalloc(n + 1, sizeof(double)) : NULL;
	return s;
}

void
hu_stat_free(hu_stat *s)
{
	free(s->t.data);
	free(s->e);
}

void
hu_map_add_stat(hu_map *m, const hu_stat *s, hu_how how)
{
	hu_map_add(m, &s->t, how);
	m->in[m->nin - 1].e = s->e;
}

double
hu_reduce_tree_error(hu_format f, double v, double all, double e, size_t n)
{
	/* in an unknown order a term meets at most n roundings */
	double du = (f.library > 0 ? (double)n : (double)hu_tree_depth(n)) * hu_unit(f);

	/* (1+u)^d - 1 <= exp(du) - 1; the roundings in all and e lose less than n 2^-53 of them. */
	e = (e + (n > 1 ? all * hu_expm1(du) * (1 + 0x1p-40) : 0)) * (1 + (double)n * 0x1p-52);
	return !hu_isfinite(v) || !(e >= 0) ? hu_inf(0) : e == 0 ? 0 : hu_up(e);
}

typedef struct magnitudes {
	double all, e;
} magnitudes;
typedef struct runs {
	hu_bounded y[HU_MAP_OUT][HU_MAP_BLOCK];
} runs;

/* Adds up magnitudes and errors of elements first … last-1, which begin with a row, per channel, or over the whole
   stretch if it is one row. */
static void
add_runs(const hu_map *m, const hu_ctx_bounded *c, size_t first, size_t last, int nout, size_t groups, runs *w,
	magnitudes *sum)
{
	hu_bounded *y[HU_MAP_OUT] = { w->y[0], w->y[1], w->y[2], w->y[3] };
	size_t group = 0;

	for (size_t at = first; at < last; at += HU_MAP_BLOCK) {
		size_t n = last - at < HU_MAP_BLOCK ? last - at : HU_MAP_BLOCK, to = group;
		hu_map_block_run(m, c, NULL, at, n, y);
		for (int k = 0; k < nout; k++) {
			to = group;
			for (size_t i = 0; i < n; i++) {
				sum[(size_t)k * groups + to].all += hu_abs(y[k][i].v);
				sum[(size_t)k * groups + to].e += y[k][i].e;
				if (++to == groups)
					to = 0;
			}
		}
		group = to;
	}
}

/* Bounds the errors of sums that are already computed, in stretches of rows that are added in order. The rows are
   first … first+rows-1; the sums of the channels are sum[k][at + j], those along the rows sum[k][row]. */
static void
errors(const hu_map *m, size_t first, size_t rows, size_t at, hu_stat *sum, int nout, int along_rows)
{
	hu_ctx_bounded c = hu_map_context_run(m);
	const hu_sum *by = hu_summed_by(m->call);
	size_t C = m->channels, groups = along_rows ? 1 : C, step = along_rows ? 1 : 8192 / C + 1,
	       parts = (rows + step - 1) / step;

	if (!sum[0].e)
		return;
	magnitudes *part = hu_xcalloc(parts * (size_t)nout * groups + 1, sizeof *part);
#pragma omp parallel num_threads(hu_threads()) if (rows * C > 4096)
	{
		runs *w = hu_xmalloc(sizeof *w);
#pragma omp for schedule(dynamic, 1)
		for (size_t b = 0; b < parts; b++) {
			size_t last = (b + 1) * step < rows ? (b + 1) * step : rows;
			add_runs(m, &c, (first + b * step) * C, (first + last) * C, nout, groups, w,
				part + b * (size_t)nout * groups);
		}
		free(w);
	}
	for (int k = 0; k < nout; k++)
		for (size_t g = 0; g < (along_rows ? rows : C); g++) {
			magnitudes s = { 0, 0 };
			for (size_t b = along_rows ? g : 0; b < (along_rows ? g + 1 : parts); b++) {
				s.all += part[(b * (size_t)nout + (size_t)k) * groups + (along_rows ? 0 : g)].all;
				s.e += part[(b * (size_t)nout + (size_t)k) * groups + (along_rows ? 0 : g)].e;
			}
			size_t n = along_rows ? C : rows;
			sum[k].e[at + g] = by ? hu_summed_error(*by, c.f, s.all, s.e, n)
					      : hu_reduce_tree_error(c.f, hu_get(&sum[k].t, at + g), s.all, s.e, n);
		}
	free(part);
}

/* Sums the rows first … first+rows-1 of every channel j to sum[k][at + j]. */
static void
columns(const hu_map *m, size_t first, size_t rows, size_t at, hu_stat *sum, int nout)
{
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);

	if (hu_summed_by(m->call))
		hu_summed_columns(m, first, rows, at, sum, nout);
	else if (m->compute == HU_FP32)
		columns_f32(m, &narrow, first, rows, at, sum, nout);
	else
		(m->compute == HU_FP64 ? columns_f64 : columns_any)(m, &wide, first, rows, at, sum, nout);
	errors(m, first, rows, at, sum, nout, 0);
}

void
hu_sum_columns(const hu_map *m, hu_stat *sum, int nout)
{
	columns(m, 0, m->n / m->channels, 0, sum, nout);
}

void
hu_sum_images(const hu_map *m, hu_stat *sum, int nout)
{
	size_t rows = m->image / m->channels;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (m->n > 16384)
	for (size_t i = 0; i < m->n / m->image; i++)
		columns(m, i * rows, rows, i * m->channels, sum, nout);
}

void
hu_sum_rows(const hu_map *m, hu_stat *sum, int nout)
{
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);

	if (hu_summed_by(m->call))
		hu_summed_rows(m, sum, nout);
	else if (m->compute == HU_FP32)
		rows_f32(m, &narrow, sum, nout);
	else
		(m->compute == HU_FP64 ? rows_f64 : rows_any)(m, &wide, sum, nout);
	errors(m, 0, m->n / m->channels, 0, sum, nout, 1);
}

/* Without errors: uses the blocks' own functions, as hu_map_emulate does. */
static void
plain_stat(const hu_map *m, hu_stat *out, int nout)
{
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);

	for (size_t first = 0; first < m->n; first += HU_MAP_BLOCK) {
		size_t n = m->n - first < HU_MAP_BLOCK ? m->n - first : HU_MAP_BLOCK;
		float y[HU_MAP_OUT][HU_MAP_BLOCK], *to[HU_MAP_OUT] = { y[0], y[1], y[2], y[3] };
		double *put[HU_MAP_OUT] = { NULL };
		for (int k = 0; k < nout; k++)
			put[k] = (double *)out[k].t.data + first;
		if (m->compute != HU_FP32) {
			hu_map_block_f64(m, &wide, first, n, put);
			continue;
		}
		hu_map_block_f32(m, &narrow, first, n, to);
		for (int k = 0; k < nout; k++)
			for (size_t i = 0; i < n; i++)
				put[k][i] = (double)y[k][i];
	}
}

void
hu_map_stat(const hu_map *m, hu_stat *out, int nout)
{
	if (!out[0].e) {
		plain_stat(m, out, nout);
		return;
	}
	hu_bounded *y = hu_xmalloc((m->n + 1) * (size_t)nout * sizeof *y);
	size_t *element = hu_xmalloc((m->n + 1) * sizeof *element);
	for (size_t i = 0; i < m->n; i++)
		element[i] = i;
	hu_map_runs(m, element, m->n, nout, y);
	for (int k = 0; k < nout; k++)
		for (size_t i = 0; i < m->n; i++) {
			hu_put(&out[k].t, i, y[i * (size_t)nout + (size_t)k].v);
			out[k].e[i] = y[i * (size_t)nout + (size_t)k].e;
		}
	free(y);
	free(element);
}

void
hu_stat_store(const hu_call *c, const hu_env *env, const hu_stat *s, hu_tensor *out)
{
	for (size_t i = 0; i < s->t.n; i++)
		hu_store(c, env, out, i, hu_get(&s->t, i));
}

void
hu_stat_bound(const hu_call *c, hu_format_id format, const hu_stat *s, const size_t *element, size_t n, double *bound)
{
	for (size_t i = 0; i < n; i++) {
		hu_bounded x = { hu_get(&s->t, element[i]), s->e[element[i]] };
		bound[i] = hu_bound_of(c, format, x);
	}
}

hu_roundings
hu_reduce_roundings(const hu_call *c, hu_tensor *const *in, int out, size_t n, size_t more, double absolute)
{
	hu_format f = hu_format_of(c->fmt.compute), y = hu_format_of(hu_output_format(c, in, out));
	const hu_sum *by = hu_summed_by(c);
	hu_roundings r = by ? hu_summed_roundings(*by, f, n) : (hu_roundings){ .terms = (double)n };
	size_t tree = by ? 0 : hu_attr_library(c) > 0 ? n : hu_tree_depth(n);

	r.absolute += absolute;
	for (int k = 0; k < c->nin; k++)
		if (!hu_contract_holds(f, hu_format_of(in[k]->format))) { /* terms are rounded when they are read */
			more++;
			break;
		}
	hu_roundings_add(&r, f, HU_RNE, 0, (double)(tree + more));
	if (!hu_contract_holds(y, f)) {
		r.last = (c->mode == HU_RNE || c->mode == HU_RNA ? 1 : 2) * hu_unit(y);
		r.least = hu_smallest(y);
	}
	return r;
}
