/* SPDX-License-Identifier: Apache-2.0
   op --got FILE --sum all: which summation model gives another program's bits, and in which columns or rows. */
#include "analyzers/op/op_sums.h"

#include "analyzers/op/op_candidates.h"
#include "analyzers/value/rows.h"
#include "analyzers/op/op_layout.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/base/table/fields.h"
#include "lib/base/terminal/progress.h"
#include "lib/number/round.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fewest elements of a column or row that are told to have a model. Two models agree on about one element in ten by
   chance; of some 260 models none agrees on six that are not its own, but in a few of a thousand cases. */
enum { LEAST = 6 };

/* A model that was tried. same[i] is 1 where it gives element i of the other program's result. alike are the models
   tried later that give the same elements. */
typedef struct tried {
	hu_sum sum, *alike;
	unsigned char *same;
	size_t equal, number, nalike, cap; /* number: in the order in which they were tried */
} tried;

typedef struct search {
	hu_op_run *r;
	const double *want;
	tried *t;              /* most equal elements first */
	size_t n, cap, models; /* models counts all that were tried, t keeps those that differ in what they give */
	size_t rows, cols;     /* the result as a matrix whose columns are its last axis */
} search;

/* A run of neighbouring columns, or rows, that one model gives; model is -1 where none does. */
typedef struct stripe {
	size_t first, last;
	int model;
} stripe;

typedef struct cut {
	stripe *s;
	size_t n, left; /* left: elements in stripes without a model */
	int by_rows;
} cut;

static int
same_bits(double x, double y)
{
	return isnan(x) ? isnan(y) : hu_bits64(x) == hu_bits64(y);
}

/* Runs the operator with the model. What an earlier run left is released first. */
static hu_status
run_with(hu_op_run *r, hu_sum sum)
{
	for (int i = 0; i < r->nin; i++) {
		free(r->tensor[i].data);
		r->tensor[i].data = NULL;
	}
	free(r->value);
	r->value = NULL;
	r->sum = r->call.sum = sum;
	return hu_op_run_all(r, 0);
}

static hu_status
try_sum(search *s, hu_sum sum)
{
	tried t = { .sum = sum };

	HU_TRY(run_with(s->r, sum));
	t.same = hu_xmalloc(s->r->n + 1);
	for (size_t i = 0; i < s->r->n; i++)
		t.equal += t.same[i] = (unsigned char)same_bits(s->r->value[i], s->want[i]);
	s->models++;
	for (size_t i = 0; i < s->n; i++)
		if (!memcmp(s->t[i].same, t.same, s->r->n)) {
			HU_GROW(s->t[i].alike, s->t[i].nalike, s->t[i].cap);
			s->t[i].alike[s->t[i].nalike++] = sum;
			free(t.same);
			return HU_OK;
		}
	HU_GROW(s->t, s->n, s->cap);
	s->t[s->n++] = t;
	return HU_OK;
}

static void
free_tried(tried *t)
{
	free(t->same);
	free(t->alike);
}

/* qsort's order, which no library's way of sorting decides: models with more equal elements first, then those that were
   tried first. */
static int
more_equal(const void *x, const void *y)
{
	const tried *a = x, *b = y;

	if (a->equal != b->equal)
		return a->equal < b->equal ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Returns the first model that gives all elements from `first` on, n of them `step` apart; -1 where none does. */
static int
given_by(const search *s, size_t first, size_t n, size_t step)
{
	for (size_t m = 0; m < s->n; m++) {
		size_t i = 0;
		while (i < n && s->t[m].same[first + i * step])
			i++;
		if (i == n)
			return (int)m;
	}
	return -1;
}

/* Cuts the result into stripes of columns, or of rows, that one model each gives. */
static cut
stripes(const search *s, int by_rows)
{
	size_t count = by_rows ? s->rows : s->cols, each = by_rows ? s->cols : s->rows, cap = 0;
	cut c = { NULL, 0, 0, by_rows };
	int whole = s->t[0].equal == s->r->n;

	for (size_t k = 0; k < count; k++) {
		int model = whole          ? 0
			    : each < LEAST ? -1
					   : given_by(s, by_rows ? k * s->cols : k, each, by_rows ? 1 : s->cols);
		c.left += model < 0 ? each : 0;
		if (c.n && c.s[c.n - 1].model == model) {
			c.s[c.n - 1].last = k;
			continue;
		}
		HU_GROW(c.s, c.n, cap);
		c.s[c.n++] = (stripe){ k, k, model };
	}
	return c;
}

/* Returns the cut that leaves fewer elements without a model, and of two like these the one with fewer stripes. */
static cut
best_cut(const search *s)
{
	cut a = stripes(s, 0), b = stripes(s, 1);
	int rows = b.left < a.left || (b.left == a.left && b.n < a.n);

	free(rows ? a.s : b.s);
	return rows ? b : a;
}

static void
sum_name(const search *s, int model, char *name, size_t size)
{
	if (model < 0)
		snprintf(name, size, "none of them");
	else
		hu_sum_print(s->t[model].sum, name, size);
}

/* Appends the sentence that says what was found. */
static void
verdict(hu_str *v, const search *s, const cut *c)
{
	char name[96];

	if (s->t[0].equal == s->r->n) {
		sum_name(s, 0, name, sizeof name);
		hu_str_addf(v, "%s gives every bit", name);
		for (size_t i = 0; i < s->t[0].nalike; i++) {
			hu_sum_print(s->t[0].alike[i], name, sizeof name);
			hu_str_addf(v, "%s%s", i ? ", " : "; on these operands so do ", name);
		}
		return;
	}
	if (c->left == s->r->n) {
		sum_name(s, 0, name, sizeof name);
		hu_str_addf(v, "no model gives a whole column or row; the nearest, %s, gives %zu of %zu elements", name,
			s->t[0].equal, s->r->n);
		return;
	}
	for (size_t i = 0; i < c->n; i++) {
		const stripe *t = &c->s[i];
		if (c->n > 8 && i == 6) {
			hu_str_addf(v, "; and %zu more stripes", c->n - i);
			break;
		}
		sum_name(s, t->model, name, sizeof name);
		hu_str_addf(v, "%s%s%s %zu", i ? "; " : "", c->by_rows ? "row" : "column",
			t->first == t->last ? "" : "s", t->first);
		if (t->first != t->last)
			hu_str_addf(v, " to %zu", t->last);
		hu_str_addf(v, ": %s", name);
	}
}

static json_t *
as_json(const search *s, const cut *c, const char *said)
{
	json_t *o = json_object(), *models = json_array(), *list = json_array();
	char name[96];

	for (size_t i = 0; i < s->n && s->t[i].equal; i++) {
		json_t *m = json_object();
		sum_name(s, (int)i, name, sizeof name);
		json_object_set_new(m, "sum", json_string(name));
		json_object_set_new(m, "equal", json_integer((json_int_t)s->t[i].equal));
		json_t *alike = json_array();
		for (size_t k = 0; k < s->t[i].nalike; k++) {
			hu_sum_print(s->t[i].alike[k], name, sizeof name);
			json_array_append_new(alike, json_string(name));
		}
		json_object_set_new(m, "alike", alike);
		json_array_append_new(models, m);
	}
	for (size_t i = 0; i < c->n; i++) {
		json_t *t = json_object();
		sum_name(s, c->s[i].model, name, sizeof name);
		json_object_set_new(t, "first", json_integer((json_int_t)c->s[i].first));
		json_object_set_new(t, "last", json_integer((json_int_t)c->s[i].last));
		json_object_set_new(t, "sum", c->s[i].model < 0 ? json_null() : json_string(name));
		json_array_append_new(list, t);
	}
	json_object_set_new(o, "operator", json_string(s->r->dot ? "dot" : s->r->call.op->name));
	json_object_set_new(o, "elements", json_integer((json_int_t)s->r->n));
	json_object_set_new(o, "tried", json_integer((json_int_t)s->models));
	json_object_set_new(o, "along", json_string(c->by_rows ? "rows" : "columns"));
	json_object_set_new(o, "stripes", list);
	json_object_set_new(o, "left", json_integer((json_int_t)c->left));
	json_object_set_new(o, "models", models);
	json_object_set_new(o, "verdict", json_string(said));
	return o;
}

enum { SHOWN = 8 }; /* models in the printed table */

typedef struct row {
	char text[96];
	const char *name;
	long long equal;
	double share;
} row;

static const hu_table_field field[] = {
	HU_FIELD_OF(row, "sum", TEXT, name, ANYWHERE, "the summation model", .heading = "summation model"),
	HU_FIELD_OF(row, "equal", COUNT, equal, ANYWHERE, "how many elements are as it gives them"),
	HU_FIELD_OF(row, "share", REAL, share, ANYWHERE, "their share", .heading = "share %", .digits = 4),
};
static const hu_fields table = HU_FIELDS(field, row);

static void
print(const search *s, const char *said)
{
	row shown[SHOWN];
	size_t n = 0;

	for (; n < s->n && n < SHOWN && s->t[n].equal; n++) {
		row *r = &shown[n];
		sum_name(s, (int)n, r->text, sizeof r->text);
		r->name = r->text;
		r->equal = (long long)s->t[n].equal;
		r->share = 100 * (double)s->t[n].equal / (double)s->r->n;
	}
	hu_fields_print(&table, shown, n, NULL);
	printf("%zu models tried on %zu elements; those that give the same elements have one row\n%s\n", s->models,
		s->r->n, said);
}

/* The values that the other program gave, in the result's format. */
static hu_status
wanted(const hu_op_run *r, const hu_npy *got, double **want)
{
	char ours[80], theirs[80];

	if (!hu_op_same_shape(r->shape, got)) {
		hu_op_shape_words(r->shape.rank, r->shape.d, ours, sizeof ours);
		hu_op_shape_words(got->rank, got->shape, theirs, sizeof theirs);
		return hu_fail(HU_EFILE, "--got: its shape is %s where the result's is %s", theirs, ours);
	}
	*want = hu_alloc((r->n + 1) * sizeof **want);
	if (!*want)
		return hu_fail(HU_ENOMEM, "no memory for %zu elements", r->n);
	for (size_t i = 0; i < r->n; i++)
		(*want)[i] = hu_op_codes_element(r, got, i, r->out);
	return HU_OK;
}

hu_status
hu_op_sums(hu_op_run *r, const hu_npy *got, int json, int *wrong)
{
	search s = { .r = r };
	double *want = NULL;
	size_t n = 0;
	hu_progress bar;
	hu_status st = run_with(r, r->sum);

	if (st == HU_OK)
		st = wanted(r, got, &want);
	if (st != HU_OK)
		return st;
	s.want = want;
	s.cols = r->shape.rank ? r->shape.d[r->shape.rank - 1] : 1;
	s.rows = r->n / s.cols;
	hu_sum *list = hu_op_candidates(r, &n);
	hu_progress_start(&bar, "summation models", n);
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		st = try_sum(&s, list[i]);
		hu_progress_step(&bar, 1);
	}
	hu_progress_end(&bar);
	if (st == HU_OK) {
		for (size_t i = 0; i < s.n; i++)
			s.t[i].number = i;
		qsort(s.t, s.n, sizeof *s.t, more_equal);
		cut c = best_cut(&s);
		hu_str said;
		hu_str_init(&said);
		verdict(&said, &s, &c);
		if (json)
			hu_rows_print_json(as_json(&s, &c, said.s));
		else
			print(&s, said.s);
		*wrong = c.left != 0;
		hu_str_release(&said);
		free(c.s);
	}
	for (size_t i = 0; i < s.n; i++)
		free_tried(&s.t[i]);
	free(s.t);
	free(list);
	free(want);
	return st;
}
