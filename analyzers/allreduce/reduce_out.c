/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/allreduce/reduce_out.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const hu_reduce_divides[] = { "after", "before", "split", NULL };

/* The values of a row. */
typedef struct line {
	const char *verdict, *order, *wire, *acc, *divide;
	int scale, broken;
	long long ranks, elements, overflowed, loud, nonfinite;
	double rel_l2, bound, underflowed, swamped, stagnated;
} line;

#define AT(member) .offset = offsetof(line, member)
static const hu_table_field field[] = {
	{ .name = "verdict",
		.kind = HU_FIELD_TEXT,
		AT(verdict),
		.place = HU_FIELD_SHOWN,
		.least = 7,
		.means = "broken, where the error exceeds the tolerance, an element overflowed or a rank's own "
			 "gradients are "
			 "not finite, else holds" },
	{ .name = "order", .kind = HU_FIELD_TEXT, AT(order), .least = 8, .means = "the order of the sum" },
	{ .name = "wire", .kind = HU_FIELD_TEXT, AT(wire), .least = 6, .means = "the format of what is sent" },
	{ .name = "acc",
		.kind = HU_FIELD_TEXT,
		AT(acc),
		.place = HU_FIELD_WRITTEN,
		.means = "the format that ranks add in" },
	{ .name = "divide",
		.kind = HU_FIELD_TEXT,
		AT(divide),
		.place = HU_FIELD_WRITTEN,
		.means = "when the sum becomes a mean: after, before or split" },
	{ .name = "scale",
		.kind = HU_FIELD_POWER,
		AT(scale),
		.least = 5,
		.rank = 3,
		.means = "what gradients are multiplied by before the sum" },
	{ .name = "ranks", .kind = HU_FIELD_COUNT, AT(ranks), .least = 5, .means = "how many ranks add" },
	{ .name = "elements",
		.kind = HU_FIELD_COUNT,
		AT(elements),
		.place = HU_FIELD_WRITTEN,
		.means = "how many elements are reduced" },
	{ .name = "rel_l2",
		.heading = "rel. L2",
		.kind = HU_FIELD_MEASURED,
		AT(rel_l2),
		.digits = 4,
		.least = 9,
		.means = "the L2 norm of the error over that of the exact sum" },
	{ .name = "bound",
		.kind = HU_FIELD_REAL,
		AT(bound),
		.digits = 4,
		.least = 9,
		.rank = 1,
		.means = "what rel_l2 cannot exceed" },
	{ .name = "underflowed",
		.kind = HU_FIELD_REAL,
		AT(underflowed),
		.digits = 4,
		.least = 9,
		.rank = 4,
		.means = "the share of the contributions that are not 0 which the cast to the wire's format made 0" },
	{ .name = "swamped",
		.kind = HU_FIELD_REAL,
		AT(swamped),
		.digits = 4,
		.least = 9,
		.rank = 5,
		.means = "the share of additions whose smaller operand changed nothing" },
	{ .name = "stagnated",
		.kind = HU_FIELD_REAL,
		AT(stagnated),
		.place = HU_FIELD_WRITTEN,
		.means = "the share of elements whose sum no later rank changed" },
	{ .name = "overflowed",
		.kind = HU_FIELD_COUNT,
		AT(overflowed),
		.rank = 2,
		.means = "how many elements overflowed" },
	{ .name = "loud_ranks",
		.heading = "loud ranks",
		.kind = HU_FIELD_COUNT,
		AT(loud),
		.rank = 6,
		.means = "how many ranks have gradients that overflow by themselves" },
	{ .name = "nonfinite",
		.kind = HU_FIELD_COUNT,
		AT(nonfinite),
		.place = HU_FIELD_WRITTEN,
		.means = "how many elements of the ranks' own gradients are not finite" },
	{ .name = "broken",
		.kind = HU_FIELD_INT,
		AT(broken),
		.place = HU_FIELD_WRITTEN,
		.means = "1 where verdict is broken" },
};
static const hu_fields table = HU_FIELDS(field, line);

static double
share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static line
line_of(const hu_reduce_row *w, const hu_records *r)
{
	const hu_reduced *g = &w->got;

	return (line){ .verdict = w->broken ? "broken" : "holds",
		.order = w->order,
		.wire = hu_format_name(w->how.sum.outer),
		.acc = hu_format_name(w->how.sum.acc),
		.divide = hu_reduce_divides[w->divide],
		.scale = w->how.scale,
		.broken = w->broken,
		.ranks = w->how.sum.n,
		.elements = (long long)r->elements,
		.overflowed = (long long)g->overflowed,
		.loud = (long long)g->loud_ranks,
		.nonfinite = (long long)g->nonfinite,
		.rel_l2 = g->rel_l2,
		.bound = g->bound,
		.underflowed = share((double)g->underflowed, (double)g->nonzeros),
		.swamped = share((double)g->swamped, (double)g->additions),
		.stagnated = share((double)g->stagnated, (double)r->elements) };
}

void
hu_reduce_help(void)
{
	hu_fields_help(&table);
}

void
hu_reduce_tsv_header(hu_tsv *t)
{
	hu_fields_tsv_header(t, &table);
}

void
hu_reduce_tsv(hu_tsv *t, const hu_reduce_row *w, const hu_records *r)
{
	line l = line_of(w, r);

	hu_fields_tsv_row(t, &table, &l);
}

json_t *
hu_reduce_json(const hu_reduce_row *w, const hu_records *r)
{
	line l = line_of(w, r);

	return hu_fields_object(&table, &l);
}

void
hu_reduce_begin(hu_fitted *to)
{
	hu_fields_begin(to, &table);
}

void
hu_reduce_print(hu_fitted *to, const hu_reduce_row *w, const hu_records *r)
{
	line l = line_of(w, r);

	hu_fields_row(to, &table, &l);
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
	char *text = hu_xprintf("Ranks beyond the recorded gradient%s repeat %s, and a tree doubles equal sums without "
				"an error. Ranks with "
				"gradients of their own may lose more: %s--ranks from=normal draws them.",
		r->n > 1 ? "s" : "", r->n > 1 ? "them" : "it", r->n > 1 ? "" : "with several files or traced steps ");
	putchar('\n');
	hu_fitted_prose(text, 0);
	free(text);
}
