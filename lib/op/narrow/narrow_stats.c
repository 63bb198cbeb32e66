/* SPDX-License-Identifier: Apache-2.0
   Operators made of statistics: which groups a range of an output is made of, and whether the call can be cut into such
   ranges. */
#include "lib/op/reduce/stats.h"

#include "lib/base/mem.h"

#include <stdlib.h>

enum {
	COLUMNS = 32,  /* of a range of columns, two lines of a cache in each row: 24 take as long as 32 and more */
	SMALL = 16     /* a rule with so many times fewer elements than the output may be repeated in each range */
};

static int
same(const hu_groups *a, const hu_groups *b)
{
	return a->how == b->how && a->n == b->n && a->channels == b->channels && a->image == b->image;
}

hu_span
hu_stats_span(const hu_groups *g, const hu_groups *of, hu_span some)
{
	return of && same(g, of) ? some : (hu_span){ 0, 0 };
}

/* The rule that has statistic number k. */
static const hu_stat_rule *
rule_of(const hu_stats_own *own, int k)
{
	const hu_stat_rule *r = own->rule;

	for (int n = 0; r->kind != HU_STAT_END; r++) {
		n += r->results ? r->results : 1;
		if (n > k)
			break;
	}
	return r;
}

hu_groups
hu_stats_groups(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int out)
{
	const hu_stats_output *o = &own->output[out];
	const hu_stat_rule *r = o->map.blocks ? &o->map : rule_of(own, o->stat);

	return r->groups ? r->groups(c, in) : hu_groups_one(0);
}

/* Whether a range of an output with groups g can do with a range of each rule's statistics. */
static int
can_be_cut(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, const hu_groups *g)
{
	for (const hu_stat_rule *r = own->rule; r->kind != HU_STAT_END; r++) {
		hu_groups of = r->groups ? r->groups(c, in) : hu_groups_one(0);
		size_t n = r->kind == HU_STAT_EACH ? hu_groups_count(&of) : of.n;
		if (r->kind == HU_STAT_INPUTS || (!same(&of, g) && n > g->n / SMALL))
			return 0;
	}
	return 1;
}

/* Whether no rule goes through all elements, so that each range may compute all statistics. */
static int
are_few(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, const hu_groups *g)
{
	for (const hu_stat_rule *r = own->rule; r->kind != HU_STAT_END; r++) {
		hu_groups of = r->groups ? r->groups(c, in) : hu_groups_one(0);
		if ((r->kind == HU_STAT_EACH ? hu_groups_count(&of) : of.n) > g->n / SMALL)
			return 0;
	}
	return 1;
}

size_t
hu_stats_grain(const hu_stats_own *own, const hu_call *c, const hu_shape *shape)
{
	hu_tensor *t = hu_xcalloc((size_t)c->nin + 1, sizeof *t), **in = hu_xcalloc((size_t)c->nin + 1, sizeof *in);
	int whole = own->output[0].map.blocks != NULL;
	size_t grain = 0;

	for (int k = 0; k < c->nin; k++) {
		t[k] = (hu_tensor){ .shape = shape[k], .n = hu_count(shape[k]) };
		in[k] = &t[k];
	}
	hu_groups g = hu_stats_groups(own, c, in, 0);
	if (!can_be_cut(own, c, in, &g))
		grain = 0;
	else if (g.how == HU_ROW)
		grain = whole ? g.channels : 1;
	else if (g.how == HU_IMAGE)
		grain = whole ? g.image : g.channels;
	else if (!whole)
		grain = COLUMNS;
	else
		grain = are_few(own, c, in, &g) ? 1 : 0;
	free(in);
	free(t);
	return grain;
}
