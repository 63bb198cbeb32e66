/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/reduce/norm.h"

#include "lib/base/mem.h"
#include "lib/op/element/ddw_loops.h"

#include <stdlib.h>
#include <string.h>

#define SAME(S, T) out[0][i] = in[0][i]
#define SQUARE(S, T) out[0][i] = hu_deviation2##S(c, in[0][i], in[1][i])
#define DIVIDE(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[1])
#define INVERSE(S, T) out[0][i] = hu_norm_rstd##S(c, in[0][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(square, SQUARE, NULL)
HU_BLOCKS(divide, DIVIDE, NULL)
HU_BLOCKS(inverse, INVERSE, NULL)
HU_DDW_LOOPS(norm_square, square, SQUARE)

size_t
hu_norm_groups(const hu_tensor *x, hu_how how)
{
	size_t C = hu_last(x->shape);

	return how == HU_CHANNEL ? C : x->n / C;
}

static void
sum(const hu_map *m, hu_how how, hu_stat *s, int n)
{
	(how == HU_CHANNEL ? hu_sum_columns : hu_sum_rows)(m, s, n);
}

void
hu_norm_divide(const hu_call *c, hu_stat *s, size_t n)
{
	hu_stat q = hu_stat_new(s->t.n, s->e != NULL);
	hu_map m;

	hu_map_init(&m, c, &divide, s->t.n, 1);
	hu_map_add_stat(&m, s, HU_EACH);
	m.nk = 2;
	m.k[1] = (double)n;
	hu_map_stat(&m, &q, 1);
	hu_stat_free(s);
	*s = q;
}

hu_stat
hu_norm_inverse(const hu_call *c, const hu_tensor *var, int with_errors)
{
	hu_stat r = hu_stat_new(var->n, with_errors);
	hu_map m;

	hu_map_init(&m, c, &inverse, var->n, 1);
	hu_map_add(&m, var, HU_EACH);
	m.nk = 1;
	m.k[0] = hu_norm_eps(c);
	hu_map_stat(&m, &r, 1);
	return r;
}

/* An exact variance is not negative, so rstd lies between 0 and 1 / sqrt(eps). This is the better bound if the variance
   is small beside its own error. */
static void
cap_errors(hu_norm *s, double eps)
{
	for (size_t i = 0; i < s->rstd.t.n; i++) {
		double r = hu_get(&s->rstd.t, i), most = eps > 0 ? hu_up(1 / sqrt(eps)) : hu_inf(0);
		if (!hu_isfinite(hu_get(&s->var.t, i)) || !(r >= 0))
			continue;
		most = r > most ? r : most;
		s->rstd.e[i] = most < s->rstd.e[i] ? most : s->rstd.e[i];
	}
}

hu_norm
hu_norm_new(const hu_call *c, const hu_tensor *x, hu_how how, int with_errors)
{
	size_t C = hu_last(x->shape), g = hu_norm_groups(x, how);
	hu_norm s = { hu_stat_new(g, with_errors), hu_stat_new(g, with_errors), { .e = NULL } };
	hu_map m;

	hu_map_init(&m, c, &same, x->n, C);
	hu_map_add(&m, x, HU_EACH);
	sum(&m, how, &s.mean, 1);
	hu_norm_divide(c, &s.mean, x->n / g);
	hu_map_init(&m, c, &square, x->n, C);
	hu_map_add(&m, x, HU_EACH);
	hu_map_add_stat(&m, &s.mean, how);
	m.in[1].e = NULL;
	sum(&m, how, &s.var, 1);
	for (size_t i = 0; with_errors && i < g; i++) /* sum (x - a)^2 = sum (x - mean)^2 + n (a - mean)^2 */
		s.var.e[i] = hu_up(s.var.e[i] + (double)(x->n / g) * s.mean.e[i] * s.mean.e[i]);
	hu_norm_divide(c, &s.var, x->n / g);
	s.rstd = hu_stat_new(g, with_errors);
	hu_map_init(&m, c, &inverse, g, 1);
	hu_map_add_stat(&m, &s.var, HU_EACH);
	m.nk = 1;
	m.k[0] = hu_norm_eps(c);
	hu_map_stat(&m, &s.rstd, 1);
	if (with_errors)
		cap_errors(&s, m.k[0]);
	return s;
}

/* Counts the sums behind the mean (out 1) and the variance (out 2) of each group. */
hu_status
hu_norm_stat_swamping(
	const hu_call *c, const hu_tensor *x, hu_how how, int out, const size_t *element, size_t n, hu_swamp *count)
{
	size_t C = hu_last(x->shape), rows = how == HU_ROW, *group;
	hu_tensor some = *x;
	hu_map m;

	if ((out != 1 && out != 2) || !n)
		return HU_OK;
	/* Of rows, or channels, only those from the first that is listed to the last are needed. */
	size_t first = element[0], last = element[n - 1] + 1;
	if (rows) {
		some = hu_narrow_view(x, first * C, (last - first) * C);
		some.shape = hu_shape2(some.n / C, C);
	} else {
		some = hu_narrow_columns(x, C, (hu_span){ first, last });
		C = last - first;
	}
	group = hu_xmalloc(n * sizeof *group);
	for (size_t i = 0; i < n; i++)
		group[i] = element[i] - first;
	hu_norm s = hu_norm_new(c, &some, how, 0);
	hu_map_init(&m, c, out == 1 ? &same : &square, some.n, C);
	hu_map_add(&m, &some, HU_EACH);
	hu_map_add_stat(&m, &s.mean, how);
	hu_sum_swamping(&m, how, 1, 0, group, n, count);
	hu_norm_free(&s);
	if (!rows)
		free(some.data);
	free(group);
	return HU_OK;
}

void
hu_norm_free(hu_norm *s)
{
	hu_stat_free(&s->mean);
	hu_stat_free(&s->var);
	hu_stat_free(&s->rstd);
}

void
hu_norm_divide_dd(const hu_call *c, const hu_stat_dd *s, hu_stat_dd *q, size_t n)
{
	hu_map m;

	hu_map_init(&m, c, &divide, s->t.n, 1);
	hu_map_add_dd(&m, s, HU_EACH);
	m.nk = 2;
	m.k[1] = (double)n;
	hu_stat_dd_init(q, s->t.n);
	hu_map_stat_dd(&m, NULL, NULL, q, 1);
}

static void
inverted(hu_stat_dd *r, hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_sink *sink)
{
	m->nk = 1;
	m->k[0] = hu_norm_eps(c);
	hu_stat_dd_init(r, m->n);
	hu_map_stat_dd(m, in, sink, r, 1);
}

void
hu_norm_inverse_dd(hu_stat_dd *r, const hu_call *c, hu_tensor *const *in, int var, const hu_sink *sink)
{
	hu_map m;

	hu_map_init(&m, c, &inverse, in[var]->n, 1);
	hu_map_add(&m, in[var], HU_EACH);
	inverted(r, &m, c, in, sink);
}

static void
dd_init(hu_norm_dd *s, const hu_call *c, hu_tensor *const *in, hu_how how, const hu_sink *sink)
{
	size_t C = hu_last(in[0]->shape), g = hu_norm_groups(in[0], how);
	hu_stat_dd total;
	hu_map m;

	hu_stat_dd_init(&total, g);
	hu_map_init(&m, c, &same, in[0]->n, C);
	hu_map_add(&m, in[0], HU_EACH);
	(how == HU_CHANNEL ? hu_sum_columns_dd : hu_sum_rows_dd)(&m, in, sink, &total, 1);
	hu_norm_divide_dd(c, &total, &s->mean, in[0]->n / g);
	hu_map_init(&m, c, &square, in[0]->n, C);
	hu_map_add(&m, in[0], HU_EACH);
	hu_map_add_dd(&m, &s->mean, how);
	(how == HU_CHANNEL ? hu_sum_columns_dd : hu_sum_rows_dd)(&m, in, sink, &total, 1);
	hu_norm_divide_dd(c, &total, &s->var, in[0]->n / g);
	hu_stat_dd_release(&total);
	hu_map_init(&m, c, &inverse, g, 1);
	hu_map_add_dd(&m, &s->var, HU_EACH);
	inverted(&s->rstd, &m, c, NULL, NULL);
}

static void
dd_release(hu_norm_dd *s)
{
	hu_stat_dd_release(&s->mean);
	hu_stat_dd_release(&s->var);
	hu_stat_dd_release(&s->rstd);
}

static void
release_norm(hu_memo *m)
{
	hu_norm_memo *k = (hu_norm_memo *)m;

	dd_release(&k->exact);
	if (k->bounds)
		hu_norm_free(&k->run);
	hu_norm_part_release(&k->part);
	free(k);
}

hu_norm_memo *
hu_norm_remember(const hu_call *c, hu_tensor *const *in, hu_how how, hu_sink *sink)
{
	if (!sink->memo) {
		hu_norm_memo *k = hu_xcalloc(1, sizeof *k);
		k->part.m.release = release_norm;
		dd_init(&k->exact, c, in, how, sink);
		k->bounds = sink->bounds;
		if (k->bounds)
			k->run = hu_norm_new(c, in[0], how, 1);
		sink->memo = &k->part.m;
	}
	return (hu_norm_memo *)sink->memo;
}
