/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/again.h"

#include "lib/exact/dot.h"
#include "lib/exact/gemm.h"

#include <stdio.h>
#include <string.h>

static unsigned long long
sums(void)
{
	unsigned long long engine, again;
	hu_exact_tally k;

	hu_exact_counts(&engine, &again);
	hu_exact_tally_get(&k);
	return again + k.judged;
}

void
hu_again_start(hu_again *g)
{
	memset(g, 0, sizeof *g);
	g->sums = sums();
}

void
hu_again_note(const hu_again *g, hu_tsv *t)
{
	const hu_ladder *l = &g->ladder;

	hu_tsv_note(t, "ladder",
		"%zu values: %zu exact in two doubles, %zu certified by their error bound, %zu by the reference",
		l->exact + l->certified + l->oracle, l->exact, l->certified, l->oracle);
	hu_tsv_note(t, "judged again",
		"%zu values, one of each call (of norms, of one call in four) and one in 65536, and %llu exact sums "
		"judged again by MPFR, 0 disagreed",
		l->again, sums() - g->sums);
}

void
hu_again_note_step(const hu_analysis *a, hu_tsv *t)
{
	const hu_propagation *g = &a->propagation;
	char left[160] = "";

	if (g->left)
		snprintf(left, sizeof left,
			"%zu tensors have no figure, since their bound is too wide and MPFR would take too long "
			"(--engine mpfr asks it); ",
			g->left);
	if (g->steps)
		hu_tsv_note(t, "exact step",
			"%zu tensors of %zu steps; figures from double-doubles are off by at most %.3g of themselves; "
			"%zu values are 0 as far as the bound tells, and their ulp is the smallest subnormal; %zu "
			"steps by MPFR whole, %zu of them at two precisions, which gave %zu tensors their figures and "
			"left %zu without, on which they disagree; %s%zu values of double-double calls judged by MPFR, "
			"0 outside their bound",
			g->tensors, g->steps, g->widest, g->vanished, g->by_mpfr, g->twice, g->escalated, g->untold,
			left, g->judged);
}
