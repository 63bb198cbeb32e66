/* SPDX-License-Identifier: Apache-2.0
   Operators made of statistics: certified values. The outputs of one call share the statistics through the sink's
   memo. */
#include "lib/op/reduce/stats.h"

#include "lib/base/mem.h"

#include <stdlib.h>

typedef struct memo { hu_memo m; int n, emulated; hu_stat_dd exact[HU_STATS]; hu_stat run[HU_STATS]; } memo;

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
select_elements(const hu_stat_rule *r, const hu_call *c, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *s)
{
	hu_groups g = r->groups(c, in);
	size_t size = hu_groups_size(&g), first, stride;

	for (size_t k = 0; k < s->t.n; k++) {
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

/* Certified statistics refer to themselves, so they are computed where they stay. */
static void
certify(memo *e, const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, const hu_sink *sink)
{
	for (const hu_stat_rule *r = own->rule; r->kind != HU_STAT_END; r++) {
		hu_groups g = r->groups ? r->groups(c, in) : hu_groups_one(0);
		hu_stat_dd *s = &e->exact[e->n];
		int results = r->results ? r->results : 1;
		hu_map m;
		for (int k = 0; k < results; k++)
			hu_stat_dd_init(&s[k], hu_groups_count(&g));
		if (r->kind == HU_STAT_SHIFT || r->kind == HU_STAT_PICK) {
			select_elements(r, c, in, sink, s);
		} else if (r->kind == HU_STAT_INPUTS) {
			sum_inputs(r, c, in, sink, s);
		} else {
			hu_stats_map(&m, c, in, r, (hu_stats_source){ add_stat, e->exact });
			(r->kind == HU_STAT_EACH         ? hu_map_stat_dd
				: g.how == HU_ROW     ? hu_sum_rows_dd
				: g.how == HU_CHANNEL ? hu_sum_columns_dd
						      : hu_sum_images_dd)(&m, in, sink, s, results);
		}
		e->n += results;
	}
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
	if (!e) {
		e = hu_xcalloc(1, sizeof *e);
		e->m.release = release;
		certify(e, own, c, in, sink);
		if (sink->bounds)
			e->emulated = hu_stats_new(own, c, in, 1, e->run);
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
