/* SPDX-License-Identifier: Apache-2.0
   Trees of expressions: making, copying and freeing them. */
#include "analyzers/expression/expr.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

hu_expr *
hu_expr_new(hu_expr_kind kind, int column)
{
	hu_expr *e = hu_xcalloc(1, sizeof *e);

	e->kind = kind;
	e->column = column;
	return e;
}

void
hu_expr_add(hu_expr *e, hu_expr *a)
{
	HU_GROW(e->arg, e->nargs, e->cap);
	e->arg[e->nargs++] = a;
}

hu_expr *
hu_expr_call(hu_function f, int column, hu_expr *a, hu_expr *b)
{
	hu_expr *e = hu_expr_new(HU_EXPR_CALL, column);

	e->function = f;
	hu_expr_add(e, a);
	if (b)
		hu_expr_add(e, b);
	return e;
}

hu_expr *
hu_expr_copy(const hu_expr *e)
{
	hu_expr *c = hu_expr_new(e->kind, e->column);

	c->function = e->function;
	c->format = e->format;
	c->text = e->text ? hu_xstrdup(e->text) : NULL;
	for (int i = 0; i < e->nargs; i++)
		hu_expr_add(c, hu_expr_copy(e->arg[i]));
	return c;
}

void
hu_expr_free(hu_expr *e)
{
	if (!e)
		return;
	for (int i = 0; i < e->nargs; i++)
		hu_expr_free(e->arg[i]);
	free(e->arg);
	free(e->text);
	free(e);
}
