/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/allreduce/reduce_out.h"

#include <math.h>
#include <stdio.h>

const char *const hu_reduce_divides[] = { "after", "before", "split", NULL };

static double
share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

void
hu_reduce_tsv(hu_tsv *t, const hu_reduce_row *w, const hu_records *r)
{
	const hu_reduced *g = &w->got;

	hu_tsv_text(t, w->order);
	hu_tsv_text(t, hu_format_name(w->how.sum.outer));
	hu_tsv_text(t, hu_format_name(w->how.sum.acc));
	hu_tsv_text(t, hu_reduce_divides[w->divide]);
	hu_tsv_real(t, ldexp(1, w->how.scale));
	hu_tsv_int(t, w->how.sum.n);
	hu_tsv_int(t, (long long)r->elements);
	if (isnan(g->rel_l2))
		hu_tsv_none(t);
	else
		hu_tsv_real(t, g->rel_l2);
	hu_tsv_real(t, g->bound);
	hu_tsv_real(t, share((double)g->underflowed, (double)g->nonzeros));
	hu_tsv_real(t, share((double)g->swamped, (double)g->additions));
	hu_tsv_real(t, share((double)g->stagnated, (double)r->elements));
	hu_tsv_int(t, (long long)g->overflowed);
	hu_tsv_int(t, (long long)g->loud_ranks);
	hu_tsv_int(t, (long long)g->nonfinite);
	hu_tsv_int(t, w->broken);
}

static json_t *
real(double x)
{
	return isfinite(x) ? json_real(x) : isnan(x) ? json_null() : json_string(x > 0 ? "inf" : "-inf");
}

json_t *
hu_reduce_json(const hu_reduce_row *w, const hu_records *r)
{
	const hu_reduced *g = &w->got;
	json_t *j = json_pack("{s:s s:s s:s s:s s:o s:i s:I s:o s:o s:o s:o s:o s:I s:I s:I s:i}", "order", w->order,
		"wire", hu_format_name(w->how.sum.outer), "acc", hu_format_name(w->how.sum.acc), "divide",
		hu_reduce_divides[w->divide], "scale", real(ldexp(1, w->how.scale)), "ranks", w->how.sum.n, "elements",
		(json_int_t)r->elements, "rel_l2", real(g->rel_l2), "bound", real(g->bound), "underflowed",
		real(share((double)g->underflowed, (double)g->nonzeros)), "swamped",
		real(share((double)g->swamped, (double)g->additions)), "stagnated",
		real(share((double)g->stagnated, (double)r->elements)), "overflowed", (json_int_t)g->overflowed,
		"loud_ranks", (json_int_t)g->loud_ranks, "nonfinite", (json_int_t)g->nonfinite, "broken", w->broken);

	HU_ASSERT(j);
	return j;
}

void
hu_reduce_print(const hu_reduce_row *w)
{
	const hu_reduced *g = &w->got;

	printf("%-8s %-6s %8d %-11.4g %-11.4g %-11.4g %-10.4g %-10.4g %10zu %10zu%s\n", w->order,
		hu_format_name(w->how.sum.outer), w->how.sum.n, g->rel_l2, g->bound,
		share((double)g->underflowed, (double)g->nonzeros), share((double)g->swamped, (double)g->additions),
		ldexp(1, w->how.scale), g->overflowed, g->loud_ranks, w->broken ? "  broken" : "");
}

/* Returns the number of rows of the first one's order and format: ranks rise in them alone. */
static int
series(const hu_reduce_row *w, int n)
{
	int k = 1;

	while (k < n && w[k].order == w->order && w[k].how.sum.outer == w->how.sum.outer &&
		w[k].how.sum.n > w[k - 1].how.sum.n)
		k++;
	return k;
}

void
hu_reduce_conclude(const hu_reduce_row *w, int n)
{
	putchar('\n');
	for (int each; n; w += each, n -= each) {
		int k = 0;
		each = series(w, n);
		while (k < each && !w[k].broken)
			k++;
		printf("%s, %s: ", w->order, hu_format_name(w->how.sum.outer));
		if (k == each) {
			printf("holds up to %d ranks\n", w[each - 1].how.sum.n);
			continue;
		}
		if (k)
			printf("holds at %d ranks, breaks at %d", w[k - 1].how.sum.n, w[k].how.sum.n);
		else
			printf("breaks at %d ranks", w->how.sum.n);
		puts(w[k].got.nonfinite ? ", as gradients are not finite" : w[k].got.overflowed ? ", by overflow" : "");
	}
}

void
hu_reduce_note(const hu_reduce_row *w, int n, const hu_records *r)
{
	int repeated = 0;

	for (int i = 0; i < n; i++)
		repeated |= (size_t)w[i].how.sum.n >= 2 * r->n && w[i].how.sum.id != HU_SUM_RING;
	if (!repeated || r->normal)
		return;
	printf("\nRanks beyond the recorded gradient%s repeat %s, and a tree doubles equal sums without an error. "
	       "Ranks with gradients\nof their own may lose more: %s--ranks-from normal draws them.\n",
		r->n > 1 ? "s" : "", r->n > 1 ? "them" : "it", r->n > 1 ? "" : "with several files or traced steps ");
}
