/* SPDX-License-Identifier: Apache-2.0
   Operators made of statistics: certified values. The outputs of one call share the statistics through the sink's
   memo. */
#include "lib/op/reduce/stats.h"

#include "lib/base/mem.h"

#include <stdlib.h>

/* part: the groups of the output that asked first, those of them that it asked for, and the rules that were
   computed. */
typedef struct memo {
	hu_memo m;
	int n, emulated;
	hu_stats_part part;
	hu_stat_dd exact[HU_STATS];
	hu_stat run[HU_STATS];
} memo;

static void
release(hu_memo *m)
{
	memo *k = (memo *)m;

	for (int i = 0; i < k->n; i++)
		hu_stat_dd_release(&k->exact[i]);
	hu_stats_free(k->run, k->emulated);
	free(k);
}

static void
add_stat(hu_map *m, const void *stats, int k, hu_how how)
{
	hu_map_add_dd(m, (const hu_stat_dd *)stats + k, how);
}

/* SHIFT and PICK. The shift may be any number near the largest element. */
static void
select_elements(const hu_stat_rule *r, const hu_call *c, hu_tensor *const *in, const hu_sink *sink, hu_span some,
	hu_stat_dd *s)
{
	hu_groups g = r->groups(c, in);
	size_t size = hu_groups_size(&g), first, stride;

	for (size_t k = some.first; k < (some.last ? some.last : s->t.n); k++) {
		hu_groups_place(&g, k, &first, &stride);
		if (r->kind == HU_STAT_SHIFT)
			hu_stat_dd_put(s, k, hu_dd_of(hu_stats_largest(in[r->a], first, size, stride)));
		else
			hu_stat_dd_put(s, k,
				hu_operand_dd(sink, in, r->a, first + (size_t)hu_get(in[r->b], k) * stride));
	}
}

static void
sum_inputs(const hu_stat_rule *r, const hu_call *c, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *s)
{
	hu_dd all = hu_dd_of(0);

	for (int k = 0; k < c->nin; k++) {
		hu_stat_dd sum;
		hu_map m;
		hu_stat_dd_init(&sum, 1);
		hu_map_init(&m, c, r->blocks, in[k]->n, 1);
		hu_map_add(&m, in[k], HU_EACH);
		hu_sum_columns_dd(&m, in, sink, &sum, 1);
		all = hu_dd_add(all, hu_stat_dd_get(&sum, 0));
		hu_stat_dd_release(&sum);
	}
	hu_stat_dd_put(s, 0, all);
}

static void
reduce(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_kind kind, hu_how how, hu_stat_dd *s, int results)
{
	(kind == HU_STAT_EACH              ? hu_map_stat_dd
		: how == HU_ROW     ? hu_sum_rows_dd
		: how == HU_CHANNEL ? hu_sum_columns_dd
				    : hu_sum_images_dd)(m, in, sink, s, results);
}

/* The same of some groups alone. */
static void
reduce_some(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_kind kind, hu_how how, hu_span some,
	hu_stat_dd *s, int results)
{
	size_t n = some.last - some.first;
	hu_stat_dd part[HU_MAP_OUT];
	hu_narrow_map v;

	if (!some.last) {
		reduce(m, in, sink, kind, how, s, results);
		return;
	}
	HU_ASSERT(!sink->low);
	for (int k = 0; k < results; k++)
		hu_stat_dd_init(&part[k], n);
	hu_narrow_init(&v, m, kind == HU_STAT_EACH ? HU_EACH : how, some);
	reduce(&v.m, in, sink, kind, how, part, results);
	for (int k = 0; k < results; k++) {
		for (size_t i = 0; i < n; i++)
			hu_stat_dd_put(&s[k], some.first + i, hu_stat_dd_get(&part[k], i));
		hu_stat_dd_release(&part[k]);
	}
	hu_narrow_release(&v);
}

/* Certified statistics refer to themselves, so they are computed where they stay. */
static void
certify(memo *e, const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, const hu_sink *sink)
{
	unsigned needs = e->part.needs;

	for (const hu_stat_rule *r = own->rule; r->kind != HU_STAT_END; r++, needs >>= 1) {
		hu_groups g = r->groups ? r->groups(c, in) : hu_groups_one(0);
		hu_stat_dd *s = &e->exact[e->n];
		int results = r->results ? r->results : 1;
		hu_span mine = hu_stats_span(&g, &e->part.of, e->part.some);
		hu_map m;
		for (int k = 0; k < results; k++)
			hu_stat_dd_init(&s[k], hu_groups_count(&g));
		if (!(needs & 1)) {
			e->n += results;
			continue;
		}
		if (r->kind == HU_STAT_SHIFT || r->kind == HU_STAT_PICK) {
			select_elements(r, c, in, sink, mine, s);
		} else if (r->kind == HU_STAT_INPUTS) {
			sum_inputs(r, c, in, sink, s);
		} else {
			hu_stats_map(&m, c, in, r, (hu_stats_source){ add_stat, e->exact });
			reduce_some(&m, in, sink, r->kind, g.how, mine, s, results);
		}
		e->n += results;
	}
}

/* The groups that the sink's range of an output consists of; all where it has none, or where a range of elements goes
   through all channels. */
static hu_span
span_of(const hu_sink *sink, const hu_groups *g, int whole)
{
	size_t a = sink->some.first, b = sink->some.last;

	if (!b || (g->how == HU_CHANNEL && whole) || (!whole && !a && b == hu_groups_count(g)))
		return (hu_span){ 0, 0 };
	if (g->how == HU_IMAGE) {
		size_t each = whole ? g->image : g->channels;
		return (hu_span){ a / each * g->channels, (b + each - 1) / each * g->channels };
	}
	return whole ? (hu_span){ a / g->channels, (b + g->channels - 1) / g->channels } : (hu_span){ a, b };
}

/* Whether what was computed for one output serves another. */
static int
has(const hu_stats_part *a, const hu_stats_part *b)
{
	return !(b->needs & ~a->needs) && a->some.first == b->some.first && a->some.last == b->some.last &&
	       (!b->some.last || a->of.how == b->of.how);
}

hu_status
hu_stats_enclose(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int out, const size_t *element,
	size_t n, hu_sink *sink)
{
	const hu_stats_output *o = &own->output[out];
	hu_format_id f = hu_output_format(c, in, out);
	hu_map exact, bounded;
	memo *e = (memo *)sink->memo;

	if (own->check)
		HU_TRY(own->check(c, in));
	hu_groups g = hu_stats_groups(own, c, in, out);
	/* Outputs of a whole call share all statistics; a range of an output computes those that it needs. */
	hu_stats_part part = { sink->some.last ? hu_stats_needs(own, out) : ~0u, g,
		span_of(sink, &g, o->map.blocks != NULL) };
	if (e && !has(&e->part, &part)) {
		hu_sink_forget(sink);
		e = NULL;
	}
	if (!e) {
		e = hu_xcalloc(1, sizeof *e);
		e->m.release = release;
		e->part = part;
		certify(e, own, c, in, sink);
		if (sink->bounds)
			e->emulated = hu_stats_new(own, c, in, 1, &e->part, e->run);
		sink->memo = &e->m;
	}
	if (!o->map.blocks)
		return hu_stat_enclose(
			c, in, out, f, &e->exact[o->stat], e->emulated ? &e->run[o->stat] : NULL, element, n, sink);
	if (e->emulated)
		hu_stats_map(&bounded, c, in, &o->map, hu_stats_emulated(e->run));
	hu_stats_map(&exact, c, in, &o->map, (hu_stats_source){ add_stat, e->exact });
	return hu_map_enclose(&exact, &bounded, in, 0, f, element, n, sink);
}
