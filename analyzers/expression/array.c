/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/expression/array.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/store/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int arrays, numbers;
} functions[] = {
#define ARRAY(name, arrays, numbers, summary) { #name, arrays, numbers },
#include "analyzers/expression/arrays.def"
#undef ARRAY
};

int
hu_array_function(const char *name, size_t n)
{
	for (int i = 0; i < HU_ARRAY_FUNCTIONS; i++)
		if (strlen(functions[i].name) == n && !strncmp(functions[i].name, name, n))
			return i;
	return -1;
}

const char *
hu_array_name(int function)
{
	return functions[function].name;
}

int
hu_array_asks_sum(const char *text)
{
	int asks = strstr(text, "sum") != NULL;

	for (int i = 0; i < HU_ARRAY_FUNCTIONS; i++)
		asks |= strstr(text, functions[i].name) != NULL;
	return asks;
}

/* Returns the literal x. */
static hu_expr *
number(double x, int column)
{
	hu_expr *e = hu_expr_new(isnan(x) ? HU_EXPR_NAN : isinf(x) ? HU_EXPR_INF : HU_EXPR_NUMBER, column);
	char text[40];

	snprintf(text, sizeof text, "%a", x);
	if (isfinite(x))
		e->text = hu_xstrdup(text);
	return isinf(x) && x < 0 ? hu_expr_call(HU_F_NEG, column, e, NULL) : e;
}

hu_status
hu_array_read(const char *path, int column, hu_expr **out)
{
	hu_npy a;

	HU_TRY(hu_npy_read(&a, path));
	if (!a.count || a.count > HU_ARRAY_MOST) {
		hu_status st =
			hu_fail(HU_EINVAL, "column %d: %s has %zu elements; an array in an expression has 1 to %d",
				column, hu_shown(path), a.count, HU_ARRAY_MOST);
		hu_npy_release(&a);
		return st;
	}
	*out = hu_expr_new(HU_EXPR_ARRAY, column);
	for (size_t i = 0; i < a.count; i++)
		hu_expr_add(*out, number(hu_npy_real(&a, i), column));
	hu_npy_release(&a);
	return HU_OK;
}

/* Returns the sum of x's elements, or of their products with y's; the elements are the sum's from now on. */
static hu_expr *
sum_of(hu_expr *x, hu_expr *y)
{
	hu_expr *s = hu_expr_new(HU_EXPR_CALL, x->column);

	s->function = HU_F_SUM;
	for (int i = 0; i < x->nargs; i++)
		hu_expr_add(s, y ? hu_expr_call(HU_F_MUL, x->column, x->arg[i], y->arg[i]) : x->arg[i]);
	x->nargs = 0;
	if (y)
		y->nargs = 0;
	return s;
}

/* Returns exp(x[i] - m) with m the largest element, which is computed again each time and comes to the same. */
static hu_expr *
power_of(const hu_expr *x, int i)
{
	hu_expr *m = hu_expr_copy(x->arg[0]);

	for (int k = 1; k < x->nargs; k++)
		m = hu_expr_call(HU_F_MAX, x->column, m, hu_expr_copy(x->arg[k]));
	return hu_expr_call(HU_F_EXP, x->column, hu_expr_call(HU_F_SUB, x->column, hu_expr_copy(x->arg[i]), m), NULL);
}

static hu_expr *
softmax(const hu_expr *x, int k)
{
	hu_expr *s = hu_expr_new(HU_EXPR_CALL, x->column);

	s->function = HU_F_SUM;
	for (int i = 0; i < x->nargs; i++)
		hu_expr_add(s, power_of(x, i));
	return hu_expr_call(HU_F_DIV, x->column, power_of(x, k), s);
}

/* Returns the expression, or NULL with an error where the arguments are none that the function takes. */
static hu_expr *
written_out(int f, hu_expr *e)
{
	hu_expr **a = e->arg, *copy;
	char *end;

	if (!strcmp(functions[f].name, "dot") && a[0]->nargs == a[1]->nargs)
		return sum_of(a[0], a[1]);
	if (!strcmp(functions[f].name, "dot")) {
		hu_fail(HU_EINVAL, "column %d: dot multiplies arrays of the same length, not of %d and %d elements",
			e->column, a[0]->nargs, a[1]->nargs);
		return NULL;
	}
	if (!strcmp(functions[f].name, "mean")) {
		int n = a[0]->nargs;
		return hu_expr_call(HU_F_DIV, e->column, sum_of(a[0], NULL), number(n, e->column));
	}
	if (!strcmp(functions[f].name, "norm")) {
		copy = hu_expr_copy(a[0]);
		hu_expr *s = hu_expr_call(HU_F_SQRT, e->column, sum_of(a[0], copy), NULL);
		hu_expr_free(copy);
		return s;
	}
	long k = a[1]->kind == HU_EXPR_NUMBER ? strtol(a[1]->text, &end, 10) : 0;
	if (k < 1 || k > a[0]->nargs || *end || a[0]->nargs > HU_ARRAY_SOFTMAX) {
		hu_fail(HU_EINVAL,
			"column %d: softmax takes an array of up to %d elements and the number of one of them, from 1: "
			"softmax([1, 2, 3], 2)",
			e->column, HU_ARRAY_SOFTMAX);
		return NULL;
	}
	return softmax(a[0], (int)k - 1);
}

hu_status
hu_array_call(int f, hu_expr *e, hu_expr **out)
{
	int good = e->nargs == functions[f].arrays + functions[f].numbers;

	for (int i = 0; i < e->nargs && good; i++)
		good = (e->arg[i]->kind == HU_EXPR_ARRAY) == (i < functions[f].arrays);
	*out = NULL;
	if (!good)
		hu_fail(HU_EINVAL, "column %d: %s takes %s%s, written [1, 2, 3] or @FILE.npy", e->column,
			functions[f].name, functions[f].arrays == 1 ? "one array" : "two arrays",
			functions[f].numbers ? " and the number of an element" : "");
	else
		*out = written_out(f, e);
	hu_expr_free(e);
	return *out ? HU_OK : HU_EINVAL;
}

void
hu_array_spread(hu_expr *call)
{
	hu_expr **was = call->arg;
	int n = call->nargs;

	call->arg = NULL;
	call->nargs = call->cap = 0;
	for (int i = 0; i < n; i++) {
		if (was[i]->kind != HU_EXPR_ARRAY) {
			hu_expr_add(call, was[i]);
			continue;
		}
		for (int k = 0; k < was[i]->nargs; k++)
			hu_expr_add(call, was[i]->arg[k]);
		was[i]->nargs = 0;
		hu_expr_free(was[i]);
	}
	free(was);
}
