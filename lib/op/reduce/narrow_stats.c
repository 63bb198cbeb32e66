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
	return same(g, of) ? some : (hu_span){ 0, 0 };
}

/* The number of the rule that has statistic number k. */
static int
rule_of(const hu_stats_own *own, int k)
{
	int r = 0;

	for (int n = 0; own->rule[r].kind != HU_STAT_END; r++) {
		n += own->rule[r].results ? own->rule[r].results : 1;
		if (n > k)
			break;
	}
	return r;
}

/* Rule r and those whose statistics it is computed from, or the latter of an output's formula, a bit each: rules refer
   to rules before them. */
static unsigned
behind(const hu_stats_own *own, const hu_from *f)
{
	unsigned all = 0;

	for (; f->what != HU_FROM_END; f++)
		if (f->what == HU_FROM_STAT || f->what == HU_FROM_GROUP) {
			int r = rule_of(own, f->k);
			all |= 1u << r | behind(own, own->rule[r].from);
		}
	return all;
}

unsigned
hu_stats_needs(const hu_stats_own *own, int out)
{
	const hu_stats_output *o = &own->output[out];
	int r = rule_of(own, o->stat);

	return o->map.blocks ? behind(own, o->map.from) : 1u << r | behind(own, own->rule[r].from);
}

hu_groups
hu_stats_groups(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int out)
{
	const hu_stats_output *o = &own->output[out];
	const hu_stat_rule *r = o->map.blocks ? &o->map : &own->rule[rule_of(own, o->stat)];

	return r->groups ? r->groups(c, in) : hu_groups_one(0);
}

/* Whether a range of an output with groups g can do with a range of the statistics of each rule that it needs. */
static int
can_be_cut(const hu_stats_own *own, unsigned needs, const hu_call *c, hu_tensor *const *in, const hu_groups *g)
{
	for (const hu_stat_rule *r = own->rule; r->kind != HU_STAT_END; r++, needs >>= 1) {
		if (!(needs & 1))
			continue;
		hu_groups of = r->groups ? r->groups(c, in) : hu_groups_one(0);
		size_t n = r->kind == HU_STAT_EACH ? hu_groups_count(&of) : of.n;
		if (r->kind == HU_STAT_INPUTS || (!same(&of, g) && n > g->n / SMALL))
			return 0;
	}
	return 1;
}

/* Whether no rule that is needed goes through all elements, so that each range may compute all its statistics. */
static int
are_few(const hu_stats_own *own, unsigned needs, const hu_call *c, hu_tensor *const *in, const hu_groups *g)
{
	for (const hu_stat_rule *r = own->rule; r->kind != HU_STAT_END; r++, needs >>= 1) {
		if (!(needs & 1))
			continue;
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
	size_t grain = 0, most = 0;
	int out = 0;

	for (int k = 0; k < c->nin; k++) {
		t[k] = (hu_tensor){ .shape = shape[k], .n = hu_count(shape[k]) };
		in[k] = &t[k];
	}
	for (int k = 0; k < c->nout && k < HU_STATS_OUT; k++) {
		hu_groups of = hu_stats_groups(own, c, in, k);
		size_t n = own->output[k].map.blocks ? of.n : hu_groups_count(&of);
		out = n > most ? k : out;
		most = n > most ? n : most;
	}
	hu_groups g = hu_stats_groups(own, c, in, out);
	unsigned needs = hu_stats_needs(own, out);
	int whole = own->output[out].map.blocks != NULL;
	if (!can_be_cut(own, needs, c, in, &g))
		grain = 0;
	else if (g.how == HU_ROW)
		grain = whole ? g.channels : 1;
	else if (g.how == HU_IMAGE)
		grain = whole ? g.image : g.channels;
	else if (!whole)
		grain = COLUMNS;
	else
		grain = are_few(own, needs, c, in, &g) ? 1 : 0;
	free(in);
	free(t);
	return grain;
}
