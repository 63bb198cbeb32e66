/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/again.h"

#include "lib/exact/dot.h"
#include "lib/judge/parts/packs.h"

#include <stdio.h>

/* The counters of hu_again one after another: f is called with each of them in both. */
static void
each(hu_again *g, hu_again *h, void (*f)(void *context, uint64_t *x, uint64_t *y), void *context)
{
	hu_exact_tally *a = &g->tally, *b = &h->tally;
	hu_exact_ways *ways[] = { &a->terms, &b->terms, &a->by, &b->by };

	f(context, &g->integers, &h->integers);
	f(context, &g->sums, &h->sums);
	for (int i = 0; i < 4; i += 2) {
		hu_exact_ways *x = ways[i], *y = ways[i + 1];
		f(context, &x->one, &y->one);
		f(context, &x->two, &y->two);
		f(context, &x->more, &y->more);
		f(context, &x->integers, &y->integers);
		f(context, &x->blas, &y->blas);
		f(context, &x->mpfr, &y->mpfr);
	}
	f(context, &a->judged, &b->judged);
	f(context, &a->sums, &b->sums);
}

/* What lib/exact has counted in this process. */
static hu_again
counted(void)
{
	hu_again g = { .sums = 0 };
	unsigned long long engine, again;

	hu_exact_counts(&engine, &again);
	hu_exact_tally_get(&g.tally);
	g.integers = engine;
	g.sums = again + g.tally.judged;
	return g;
}

void
hu_again_start(hu_again *g)
{
	*g = counted();
}

static void
since(void *context, uint64_t *x, uint64_t *y)
{
	(void)context;
	*x = *y - *x;
}

void
hu_again_stop(hu_again *g)
{
	hu_again now = counted();

	each(g, &now, since, NULL);
}

static void
pass(void *context, uint64_t *x, uint64_t *y)
{
	hu_pack *r = context;

	hu_pack_count(r, x);
	*y += r->reading ? *x : 0;
}

void
hu_again_pack(hu_pack *r, hu_again *g, hu_again *to)
{
	hu_pack_methods(r, &g->methods);
	if (r->reading)
		hu_methods_add(&to->methods, &g->methods);
	each(g, to, pass, r);
}

void
hu_again_note(const hu_analysis *a, const hu_again *g, hu_tsv *t)
{
	const hu_methods *l = &g->methods;

	hu_tsv_note(t, "methods",
		"%zu values: %zu exact in two doubles, %zu certified by their error bound, %zu by the reference",
		l->exact + l->certified + l->oracle, l->exact, l->certified, l->oracle);
	hu_again_note_twice(a, g, t);
}

void
hu_again_note_twice(const hu_analysis *a, const hu_again *g, hu_tsv *t)
{
	hu_tsv_note(t, "judged again",
		"%zu values, one of each call (of norms, of one call in four) and one in 65536, and %llu exact sums "
		"judged again by MPFR, %zu disagreed%s",
		g->methods.again, (unsigned long long)g->sums, a->disagreed,
		a->disagreed ? " (calls, which therefore have no verdict)" : "");
}

void
hu_again_note_step(const hu_analysis *a, hu_tsv *t)
{
	const hu_propagation *g = &a->propagation;
	char left[160] = "", agreed[160] = "";

	if (g->left)
		snprintf(left, sizeof left,
			"%zu tensors have no figure, since their bound is too wide and MPFR would take too long "
			"(--engine mpfr asks it); ",
			g->left);
	if (g->agreed)
		snprintf(agreed, sizeof agreed,
			"bounds of %zu tensors rest on the agreement of recorded and exact products; ", g->agreed);
	if (g->steps)
		hu_tsv_note(t, "exact step",
			"%zu tensors of %zu steps; figures from double-doubles are off by at most %.3g of themselves; "
			"%zu values are 0 as far as the bound tells, and their ulp is the smallest subnormal; %zu "
			"steps by MPFR whole, %zu of them at two precisions, which gave %zu tensors their figures and "
			"left %zu without, on which they disagree; %s%s%zu values of double-double calls judged by "
			"MPFR, "
			"%zu outside their bound%s",
			g->tensors, g->steps, g->widest, g->vanished, g->by_mpfr, g->twice, g->escalated, g->unreported,
			left, agreed, g->judged, g->disagreed,
			g->disagreed ? " (calls, whose results are taken for unknown, with all that depends on them)"
				     : "");
}
