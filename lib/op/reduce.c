/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/reduce.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <stdlib.h>

#define HU_T float
#define HU_CTX hu_ctx_f32
#define HU_X(name) name##_f32
#define HU_PLUS(f, a, b) ((a) + (b))
#define HU_TERMS hu_map_block_f32
#include "lib/op/reduce.inc"
#undef HU_T
#undef HU_CTX
#undef HU_X
#undef HU_TERMS
#define HU_T double
#define HU_CTX hu_ctx_f64
#define HU_X(name) name##_f64
#define HU_TERMS hu_map_block_f64
#include "lib/op/reduce.inc"
#undef HU_X
#undef HU_PLUS
#define HU_X(name) name##_any
#define HU_PLUS(f, a, b) hu_rne(f, (a) + (b))
#include "lib/op/reduce.inc"

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

hu_bounded
hu_bounded_tree(hu_format f, const hu_bounded *x, size_t n, size_t stride)
{
	double *v = hu_xmalloc((n + 1) * sizeof *v), all = 0, e = 0, du = (double)hu_tree_depth(n) * hu_unit(f);
	hu_bounded r;

	for (size_t i = 0; i < n; i++) {
		v[i] = x[i * stride].v;
		all += hu_abs(v[i]);
		e += x[i * stride].e;
	}
	r.v = f.p >= 53 ? hu_tree_f64(v, n, 1, f) : hu_tree_any(v, n, 1, f);
	free(v);
	/* (1+u)^d - 1 <= exp(du) - 1; our own sums lose less than n 2^-53 of themselves. */
	e = (e + (n > 1 ? all * hu_expm1(du) * (1 + 0x1p-40) : 0)) * (1 + (double)n * 0x1p-52);
	r.e = e == 0 ? 0 : hu_up(e);
	if (!hu_isfinite(r.v) || !(r.e >= 0))
		r.e = hu_inf(0);
	return r;
}

/* The runs of each group of terms, and their tree: what columns and rows share. */
static void
errors(const hu_map *m, hu_stat *sum, int nout, int along_rows)
{
	size_t C = m->channels, rows = m->n / C, groups = along_rows ? rows : C, terms = along_rows ? C : rows;

	if (!sum[0].e)
		return;
	size_t *element = hu_xmalloc((terms + 1) * sizeof *element);
	hu_bounded *y = hu_xmalloc((terms + 1) * (size_t)nout * sizeof *y);
	for (size_t g = 0; g < groups; g++) {
		for (size_t i = 0; i < terms; i++)
			element[i] = along_rows ? g * C + i : i * C + g;
		hu_map_runs(m, element, terms, nout, y);
		for (int k = 0; k < nout; k++)
			sum[k].e[g] = hu_bounded_tree(hu_format_of(m->compute), y + k, terms, (size_t)nout).e;
	}
	free(element);
	free(y);
}

void
hu_sum_columns(const hu_map *m, hu_stat *sum, int nout)
{
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);

	if (m->compute == HU_FP32)
		columns_f32(m, &narrow, sum, nout);
	else
		(m->compute == HU_FP64 ? columns_f64 : columns_any)(m, &wide, sum, nout);
	errors(m, sum, nout, 0);
}

void
hu_sum_rows(const hu_map *m, hu_stat *sum, int nout)
{
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);

	if (m->compute == HU_FP32)
		rows_f32(m, &narrow, sum, nout);
	else
		(m->compute == HU_FP64 ? rows_f64 : rows_any)(m, &wide, sum, nout);
	errors(m, sum, nout, 1);
}

/* Without errors: the blocks' own functions, as hu_map_emulate has them. */
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
