/* SPDX-License-Identifier: Apache-2.0
   The rows of another file as a table, the most harmful node first, and as JSON. */
#include "analyzers/validate/against/against.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 24, NAMES = 6 }; /* rows of the table; names of values that have no pair */

static const char *const kinds[] = { "same", "renamed", "missing" };

/* A value as it is printed and written. */
typedef struct row {
	char *value, *node, *op, *as; /* the row's own */
	const char *pair, *maker;
	double own, arrived, zeroed_percent, saturated_percent;
	long long elements, nonfinite, zeroed, saturated;
} row;

#define FIELD(name, kind, member, place, means, ...) HU_FIELD_OF(row, name, kind, member, place, means, __VA_ARGS__)
static const hu_table_field field[] = {
	FIELD("value", TEXT, value, ANYWHERE, "the value of the float32 model"),
	FIELD("node", TEXT, node, WRITTEN, "the node that makes it"),
	FIELD("op", TEXT, op, WRITTEN, "the node's operator"),
	FIELD("operator", TEXT, maker, SHOWN, "the same", .rank = 1),
	FIELD("pair", TEXT, pair, WRITTEN, "whether the file has it by name, under another one, or not"),
	FIELD("as", TEXT, as, WRITTEN, "the name that it has there"),
	FIELD("own", MEASURED, own, ANYWHERE, "what its node does where all values before it are float32's",
		.digits = 3),
	FIELD("arrived", MEASURED, arrived, ANYWHERE, "the same where none is", .digits = 3),
	FIELD("elements", COUNT, elements, WRITTEN, "how many elements it has"),
	FIELD("nonfinite", COUNT, nonfinite, ANYWHERE, "how many of them are not finite", .rank = 2),
	FIELD("zeroed", COUNT, zeroed, WRITTEN, "how many became 0"),
	FIELD("zeroed", REAL, zeroed_percent, SHOWN, "their share", .heading = "zeroed %", .digits = 3, .rank = 3),
	FIELD("saturated", COUNT, saturated, WRITTEN, "how many became the format's largest number"),
	FIELD("saturated", REAL, saturated_percent, SHOWN, "their share", .heading = "saturated %", .digits = 3,
		.rank = 4),
};
static const hu_fields table = HU_FIELDS(field, row);

double
hu_against_rel(const hu_against_error *e)
{
	return e->all > 0 ? sqrt(e->error / e->all) : e->error > 0 ? INFINITY : e->all == 0 ? 0 : NAN;
}

/* The larger own damage first; what has no pair comes last. */
static int
by_damage(const void *a, const void *b)
{
	const hu_against_row *x = *(const hu_against_row *const *)a, *y = *(const hu_against_row *const *)b;
	double own[2] = { x->kind ? -1 : hu_against_rel(&x->own), y->kind ? -1 : hu_against_rel(&y->own) };
	int bad[2] = { !x->kind && x->nonfinite, !y->kind && y->nonfinite };

	if (bad[0] != bad[1])
		return bad[1] - bad[0];
	return own[0] != own[1] ? (own[0] < own[1] ? 1 : -1) : x < y ? -1 : x > y;
}

/* The names of values of this kind, the first ones. */
static void
print_names(const hu_against *a, hu_against_kind kind, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (a->row[i].kind != kind)
			continue;
		if (n < NAMES)
			printf("%s'%s'", n ? ", " : text, hu_shown(a->row[i].value));
		n++;
	}
	if (n > NAMES)
		printf(" and %zu more", n - NAMES);
	if (n)
		puts(".");
}

static row
row_of(const hu_against_row *r)
{
	int is = r->kind == HU_AGAINST_SAME;
	double all = r->elements ? (double)r->elements : 1;

	return (row){ .value = hu_xstrdup(hu_shown(r->value)),
		.node = hu_xstrdup(*r->op ? hu_shown(r->node) : ""),
		.op = hu_xstrdup(*r->op ? hu_shown(r->op) : ""),
		.as = hu_xstrdup(*r->as ? hu_shown(r->as) : ""),
		.pair = kinds[r->kind],
		.maker = *r->op ? r->op : "(input)",
		.own = is ? hu_against_rel(&r->own) : NAN,
		.arrived = is ? hu_against_rel(&r->arrived) : NAN,
		.zeroed_percent = 100 * (double)r->zeroed / all,
		.saturated_percent = 100 * (double)r->saturated / all,
		.elements = (long long)r->elements,
		.nonfinite = is ? (long long)r->nonfinite : -1,
		.zeroed = is ? (long long)r->zeroed : -1,
		.saturated = is ? (long long)r->saturated : -1 };
}

static void
rows_free(row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(rows[i].value);
		free(rows[i].node);
		free(rows[i].op);
		free(rows[i].as);
	}
	free(rows);
}

void
hu_against_print(const hu_against *a)
{
	const hu_against_row **sorted = hu_xcalloc(a->n + 1, sizeof *sorted);
	row *rows = hu_xcalloc(SHOWN, sizeof *rows);
	size_t same = 0, n = 0;

	for (size_t i = 0; i < a->n; i++) {
		sorted[i] = &a->row[i];
		same += a->row[i].kind == HU_AGAINST_SAME;
	}
	qsort(sorted, a->n, sizeof *sorted, by_damage);
	for (; n < same && n < SHOWN; n++)
		rows[n] = row_of(sorted[n]);
	printf("\n%s, value by value, on %zu input%s: own, what the node that makes it does, where all values before "
	       "it are float32's;\narrived, where none is. zeroed and saturated are of the value's own rounding.\n",
		hu_shown(a->path), a->inputs, a->inputs == 1 ? "" : "s");
	hu_fields_print(&table, rows, n, "--json has all");
	if (same > SHOWN)
		printf("%zu more values are in --json.\n", same - SHOWN);
	printf("%zu of %zu values have a pair by name, shape and elements.\n", same, a->n);
	print_names(a, HU_AGAINST_OTHER, "Under the same name the file has another value for ");
	print_names(a, HU_AGAINST_NONE, "The file has no value called ");
	rows_free(rows, n);
	free(sorted);
}

json_t *
hu_against_json(const hu_against *a)
{
	json_t *o = json_object();
	row *rows = hu_xcalloc(a->n + 1, sizeof *rows);

	for (size_t i = 0; i < a->n; i++)
		rows[i] = row_of(&a->row[i]);
	json_object_set_new(o, "file", json_string(hu_shown(a->path)));
	json_object_set_new(o, "inputs", json_integer((json_int_t)a->inputs));
	json_object_set_new(o, "values", hu_fields_array(&table, rows, a->n));
	rows_free(rows, a->n);
	return o;
}
