/* SPDX-License-Identifier: Apache-2.0
   The rows of another file as a table, the most harmful node first, and as JSON. */
#include "analyzers/validate/against/against.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 24, NAMES = 6 }; /* rows of the table; names of values that have no pair */

static const char *const kinds[] = { "same", "renamed", "missing" };

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

void
hu_against_print(const hu_against *a)
{
	const hu_against_row **row = hu_xcalloc(a->n + 1, sizeof *row);
	size_t same = 0;
	int width = 5;

	for (size_t i = 0; i < a->n; i++) {
		row[i] = &a->row[i];
		same += a->row[i].kind == HU_AGAINST_SAME;
	}
	qsort(row, a->n, sizeof *row, by_damage);
	for (size_t i = 0; i < same && i < SHOWN; i++) {
		int n = (int)strlen(hu_shown(row[i]->value));
		width = n > width ? n : width;
	}
	width = width > 48 ? 48 : width;
	printf("\n%s, value by value, on %zu input%s: own, what the node that makes it does, where all values before "
	       "it "
	       "are float32's;\narrived, where none is. zeroed and saturated are of the value's own rounding.\n",
		hu_shown(a->path), a->inputs, a->inputs == 1 ? "" : "s");
	printf("%-*s %-18s %9s %9s %9s %8s %10s\n", width, "value", "operator", "own", "arrived", "nonfinite",
		"zeroed %", "saturated %");
	for (size_t i = 0; i < same && i < SHOWN; i++) {
		const hu_against_row *r = row[i];
		const char *name = hu_shown(r->value);
		size_t length = strlen(name);
		double all = r->elements ? (double)r->elements : 1;
		printf("%-*s %-18s %9.3g %9.3g %9zu %8.3g %10.3g\n", width,
			length > (size_t)width ? name + length - (size_t)width : name, *r->op ? r->op : "(input)",
			hu_against_rel(&r->own), hu_against_rel(&r->arrived), r->nonfinite,
			100 * (double)r->zeroed / all, 100 * (double)r->saturated / all);
	}
	if (same > SHOWN)
		printf("%zu more values are in --json.\n", same - SHOWN);
	printf("%zu of %zu values have a pair by name, shape and elements.\n", same, a->n);
	print_names(a, HU_AGAINST_OTHER, "Under the same name the file has another value for ");
	print_names(a, HU_AGAINST_NONE, "The file has no value called ");
	free(row);
}

/* A number; what is not finite as a text, null where nothing was measured. */
static json_t *
number(double x, int there)
{
	if (!there)
		return json_null();
	return isfinite(x) ? json_real(x) : json_string(x != x ? "nan" : x > 0 ? "inf" : "-inf");
}

static json_t *
whole(size_t n, int there)
{
	return there ? json_integer((json_int_t)n) : json_null();
}

json_t *
hu_against_json(const hu_against *a)
{
	json_t *o = json_object(), *rows = json_array();

	json_object_set_new(o, "file", json_string(hu_shown(a->path)));
	json_object_set_new(o, "inputs", json_integer((json_int_t)a->inputs));
	for (size_t i = 0; i < a->n; i++) {
		const hu_against_row *r = &a->row[i];
		int is = r->kind == HU_AGAINST_SAME;
		json_t *v = json_object();
		json_object_set_new(v, "value", json_string(hu_shown(r->value)));
		json_object_set_new(v, "node", *r->op ? json_string(hu_shown(r->node)) : json_null());
		json_object_set_new(v, "op", *r->op ? json_string(hu_shown(r->op)) : json_null());
		json_object_set_new(v, "pair", json_string(kinds[r->kind]));
		json_object_set_new(v, "as", *r->as ? json_string(hu_shown(r->as)) : json_null());
		json_object_set_new(v, "own", number(hu_against_rel(&r->own), is));
		json_object_set_new(v, "arrived", number(hu_against_rel(&r->arrived), is));
		json_object_set_new(v, "elements", whole(r->elements, 1));
		json_object_set_new(v, "nonfinite", whole(r->nonfinite, is));
		json_object_set_new(v, "zeroed", whole(r->zeroed, is));
		json_object_set_new(v, "saturated", whole(r->saturated, is));
		json_array_append_new(rows, v);
	}
	json_object_set_new(o, "values", rows);
	return o;
}
