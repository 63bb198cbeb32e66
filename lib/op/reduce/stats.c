/* SPDX-License-Identifier: Apache-2.0
   Operators made of statistics: the emulation and its bounds. */
#include "lib/op/reduce/stats.h"

#include "lib/base/mem.h"
#include "lib/op/performed.h"

#include <string.h>

int
hu_stats_size(const hu_call *c, const hu_groups *g, double *k)
{
	(void)c;
	k[0] = (double)hu_groups_size(g);
	return 1;
}

int
hu_stats_smoothing(const hu_call *c, const hu_groups *g, double *k)
{
	k[0] = hu_attr_num(c, "label_smoothing", 0);
	k[1] = (double)hu_groups_size(g);
	return 2;
}

double
hu_stats_largest(const hu_tensor *x, size_t first, size_t n, size_t stride)
{
	double top = n ? hu_get(x, first) : 0;

	for (size_t i = 0; i < n; i++) {
		double v = hu_get(x, first + i * stride);
		if (v != v)
			return hu_nan();
		top = v > top ? v : top;
	}
	return top;
}

void
hu_stats_map(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_stat_rule *r, hu_stats_source s)
{
	hu_groups g = r->groups(c, in);
	int each = r->kind == HU_STAT_EACH;

	hu_map_init(m, c, r->blocks, each ? hu_groups_count(&g) : g.n, each ? 1 : g.channels);
	if (!each)
		m->image = g.image;
	for (const hu_from *f = r->from; f->what != HU_FROM_END; f++)
		switch (f->what) {
		case HU_FROM_INPUT: hu_map_add(m, in[f->k], f->how); break;
		case HU_FROM_STAT: s.add(m, s.stats, f->k, f->how); break;
		case HU_FROM_GROUP:
			s.add(m, s.stats, f->k, each ? HU_EACH : hu_groups_count(&g) == 1 ? HU_ONE : g.how);
			break;
		case HU_FROM_INDEX: hu_map_add(m, NULL, HU_INDEX); break;
		case HU_FROM_END: break;
		}
	if (r->constants)
		m->nk = r->constants(c, &g, m->k);
}

static void
add_stat(hu_map *m, const void *stats, int k, hu_how how)
{
	hu_map_add_stat(m, (const hu_stat *)stats + k, how);
}

hu_stats_source
hu_stats_emulated(const hu_stat *stat)
{
	return (hu_stats_source){ add_stat, stat };
}

/* SHIFT and PICK. */
static void
select_elements(const hu_stat_rule *r, const hu_call *c, hu_tensor *const *in, hu_span some, hu_stat *s)
{
	hu_groups g = r->groups(c, in);
	hu_format f = hu_format_of(c->fmt.compute);
	size_t size = hu_groups_size(&g), first, stride;

	for (size_t k = some.first; k < (some.last ? some.last : s->t.n); k++) {
		hu_groups_place(&g, k, &first, &stride);
		if (r->kind == HU_STAT_SHIFT)
			hu_put(&s->t, k, hu_rne(f, hu_stats_largest(in[r->a], first, size, stride)));
		else
			hu_put(&s->t, k, hu_get(in[r->a], first + (size_t)hu_get(in[r->b], k) * stride));
	}
	if (r->kind == HU_STAT_SHIFT)
		hu_performed_operations(g.n);
}

/* The sum over all inputs: each input's own sum, then these in order. */
static void
sum_inputs(const hu_stat_rule *r, const hu_call *c, hu_tensor *const *in, hu_stat *s)
{
	hu_format f = hu_attr_bounded(c);
	hu_bounded all = { 0, 0 };

	for (int k = 0; k < c->nin; k++) {
		hu_stat sum = hu_stat_new(1, s->e != NULL);
		hu_bounded x;
		hu_map m;
		hu_map_init(&m, c, r->blocks, in[k]->n, 1);
		hu_map_add(&m, in[k], HU_EACH);
		hu_sum_columns(&m, &sum, 1);
		x.v = hu_get(&sum.t, 0);
		x.e = s->e ? sum.e[0] : 0;
		all = k ? hu_bounded_add(f, all, x) : x;
		hu_stat_free(&sum);
	}
	hu_put(&s->t, 0, all.v);
	if (s->e)
		s->e[0] = all.e;
}

static void
reduce(const hu_map *m, hu_stat_kind kind, hu_how how, hu_stat *stat, int results)
{
	if (kind == HU_STAT_EACH)
		hu_map_stat(m, stat, results);
	else
		(how == HU_ROW             ? hu_sum_rows
			: how == HU_CHANNEL ? hu_sum_columns
					    : hu_sum_images)(m, stat, results);
}

/* The same of some groups alone. */
static void
reduce_some(const hu_map *m, hu_stat_kind kind, hu_how how, hu_span some, hu_stat *stat, int results)
{
	size_t n = some.last - some.first;
	hu_stat part[HU_MAP_OUT];
	hu_narrow_map v;

	if (!some.last) {
		reduce(m, kind, how, stat, results);
		return;
	}
	for (int k = 0; k < results; k++)
		part[k] = hu_stat_new(n, stat[k].e != NULL);
	hu_narrow_init(&v, m, kind == HU_STAT_EACH ? HU_EACH : how, some);
	reduce(&v.m, kind, how, part, results);
	for (int k = 0; k < results; k++) {
		memcpy((double *)stat[k].t.data + some.first, part[k].t.data, n * sizeof(double));
		if (stat[k].e)
			memcpy(stat[k].e + some.first, part[k].e, n * sizeof(double));
		hu_stat_free(&part[k]);
	}
	hu_narrow_release(&v);
}

int
hu_stats_new(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int with_errors,
	const hu_stats_part *part, hu_stat *stat)
{
	unsigned needs = part ? part->needs : ~0u;
	int n = 0;

	for (const hu_stat_rule *r = own->rule; r->kind != HU_STAT_END; r++, needs >>= 1) {
		hu_groups g = r->groups ? r->groups(c, in) : hu_groups_one(0);
		int results = r->results ? r->results : 1, chosen = r->kind == HU_STAT_SHIFT || r->kind == HU_STAT_PICK;
		hu_span mine = part ? hu_stats_span(&g, &part->of, part->some) : (hu_span){ 0, 0 };
		hu_map m;
		HU_ASSERT(n + results <= HU_STATS);
		for (int k = 0; k < results; k++)
			stat[n + k] = hu_stat_new(hu_groups_count(&g), with_errors && !chosen);
		if (!(needs & 1)) {
			n += results;
			continue;
		}
		if (chosen) {
			select_elements(r, c, in, mine, &stat[n]);
		} else if (r->kind == HU_STAT_INPUTS) {
			sum_inputs(r, c, in, &stat[n]);
		} else {
			hu_stats_map(&m, c, in, r, hu_stats_emulated(stat));
			reduce_some(&m, r->kind, g.how, mine, &stat[n], results);
		}
		n += results;
	}
	return n;
}

void
hu_stats_free(hu_stat *stat, int n)
{
	for (int k = 0; k < n; k++)
		hu_stat_free(&stat[k]);
}

hu_status
hu_stats_emulate(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, hu_tensor *const *out,
	const hu_env *env)
{
	hu_stat stat[HU_STATS];
	hu_map m;

	if (own->check)
		HU_TRY(own->check(c, in));
	int n = hu_stats_new(own, c, in, 0, NULL, stat);
	for (int k = 0; k < c->nout; k++) {
		const hu_stats_output *o = &own->output[k];
		if (!o->map.blocks) {
			hu_stat_store(c, env, &stat[o->stat], out[k]);
			continue;
		}
		hu_stats_map(&m, c, in, &o->map, hu_stats_emulated(stat));
		hu_map_emulate(&m, &out[k], 1, env);
	}
	hu_stats_free(stat, n);
	return HU_OK;
}

hu_status
hu_stats_bound(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int out, const size_t *element,
	size_t n, double *bound)
{
	const hu_stats_output *o = &own->output[out];
	hu_format_id f = hu_output_format(c, in, out);
	hu_stat stat[HU_STATS];
	hu_map m;

	if (own->check)
		HU_TRY(own->check(c, in));
	int count = hu_stats_new(own, c, in, 1, NULL, stat);
	if (o->map.blocks) {
		hu_stats_map(&m, c, in, &o->map, hu_stats_emulated(stat));
		hu_map_bound(&m, 1, 0, f, element, n, bound);
	} else {
		hu_stat_bound(c, f, &stat[o->stat], element, n, bound);
	}
	hu_stats_free(stat, count);
	return HU_OK;
}
