/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/op_list.h"

#include "analyzers/value/rows.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"
#include "lib/op/op.h"

#include <stdio.h>
#include <stdlib.h>

/* An operator's row. */
typedef struct line {
	const char *name, *attributes, *summary;
	char operands[24];
	const char *takes;
	long long least, most, results;
} line;

enum { ATTRIBUTES = 44 }; /* columns of the text */

static const hu_table_field field[] = {
	{ .name = "operator", .kind = HU_FIELD_TEXT, .offset = offsetof(line, name), .means = "its name" },
	{ .name = "operands",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, takes),
		.place = HU_FIELD_SHOWN,
		.means = "how many arrays it takes" },
	{ .name = "operands_least",
		.kind = HU_FIELD_COUNT,
		.offset = offsetof(line, least),
		.place = HU_FIELD_WRITTEN,
		.means = "how many arrays it takes at least" },
	{ .name = "operands_most",
		.kind = HU_FIELD_COUNT,
		.offset = offsetof(line, most),
		.place = HU_FIELD_WRITTEN,
		.means = "how many it takes at most; null: any number" },
	{ .name = "results",
		.kind = HU_FIELD_COUNT,
		.offset = offsetof(line, results),
		.place = HU_FIELD_WRITTEN,
		.means = "how many arrays it gives" },
	{ .name = "attributes",
		.kind = HU_FIELD_WORDS,
		.offset = offsetof(line, attributes),
		.most = ATTRIBUTES,
		.means = "what --set may set" },
	{ .name = "summary",
		.heading = "result",
		.kind = HU_FIELD_PROSE,
		.offset = offsetof(line, summary),
		.means = "what it computes" },
};

static const hu_fields table = HU_FIELDS(field, line);

static void
fill(line *l, const hu_op *op)
{
	*l = (line){ op->name, op->attrs, op->summary, "", NULL, op->min_in, op->max_in, op->nout };
	snprintf(l->operands, sizeof l->operands,
		op->max_in < 0             ? "%d or more"
		: op->max_in == op->min_in ? "%d"
					   : "%d to %d",
		op->min_in, op->max_in);
	l->takes = l->operands;
}

int
hu_op_list(int json)
{
	const hu_op *op;
	size_t n = 1;

	for (int i = 0; hu_op_at(i); i++)
		n++;
	line *l = hu_xcalloc(n, sizeof *l);
	*l = (line){ "dot", NULL, "rows of inner products: d[i] = sum over k of a[i,k] b[i,k] + c[i]", "", "a b [c]", 2,
		3, 1 };
	n = 1;
	for (int i = 0; (op = hu_op_at(i)); i++)
		if (op->role != HU_ROLE_OPAQUE)
			fill(&l[n++], op);
	if (json)
		hu_rows_print_json(hu_fields_array(&table, l, n));
	else
		hu_fields_print(&table, l, n, "--json has all");
	free(l);
	return HU_EXIT_OK;
}

void
hu_op_list_help(void)
{
	hu_fields_help(&table);
}
