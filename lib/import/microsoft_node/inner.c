/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/microsoft_node/inner.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

void
hu_inner_begin(hu_inner *x, hu_importing *c)
{
	*x = (hu_inner){ .c = c, .outer = c->scope, .version = c->version };
	x->scope = (hu_scope){ .outer = c->scope, .caller = c->scope->caller };
	c->scope = &x->scope;
	c->version = HU_INNER_VERSION;
}

void
hu_inner_put(hu_inner *x, size_t i, const hu_value *v)
{
	if (!v || x->c->st != HU_OK)
		return;
	x->c->scope = x->outer;
	hu_import_put(x->c, i, v);
	x->c->scope = &x->scope;
}

void
hu_inner_end(hu_inner *x)
{
	x->c->scope = x->outer;
	x->c->version = x->version;
	hu_import_scope_release(&x->scope);
	for (size_t i = 0; i < x->n; i++)
		free(x->name[i]);
	free(x->name);
}

static const char *
name(hu_inner *x)
{
	HU_GROW(x->name, x->n, x->cap);
	x->name[x->n] = hu_xprintf("halfulp:%zu", x->n);
	return x->name[x->n++];
}

hu_value *
hu_inner_value(hu_inner *x, int type, int rank, const size_t *d, int t)
{
	if (t < 0 || x->c->st != HU_OK)
		return NULL;
	hu_value *v = hu_import_value(x->c, &x->scope, name(x), type, rank, d);
	if (v)
		v->plain = t;
	return v;
}

hu_value *
hu_inner_number(hu_inner *x, int type, double value)
{
	return hu_inner_value(x, type, 0, NULL, hu_import_number(x->c, type, value));
}

/* V under a name of the inner scope. */
static const char *
named(hu_inner *x, const hu_value *v)
{
	hu_value *to = hu_import_value(x->c, &x->scope, name(x), v->type, v->rank, v->d);

	if (!to)
		return "";
	to->plain = v->plain;
	to->last = v->last;
	return to->name;
}

hu_value *
hu_inner_node(hu_inner *x, hu_node_import *code, const char *op, hu_value *const *in, size_t n,
	const hu_onnx_attr *attr, size_t nattr)
{
	hu_importing *c = x->c;
	const hu_onnx_node *was = c->node;
	const char *inputs[8], *out[1];
	hu_onnx_attr *own;
	hu_value *made = NULL;

	HU_ASSERT(n <= sizeof inputs / sizeof *inputs);
	for (size_t i = 0; i < n && c->st == HU_OK; i++)
		inputs[i] = in[i] ? named(x, in[i]) : "";
	if (c->st != HU_OK || !in[0])
		return NULL;
	own = hu_xcalloc(nattr + 1, sizeof *own);
	memcpy(own, attr, nattr * sizeof *own);
	for (size_t i = 0; i < nattr; i++)
		own[i].ref = own[i].ref ? own[i].ref : "";
	*out = name(x);
	hu_onnx_node node = { was->name, op, "", n, 1, nattr, inputs, out, own };
	c->node = &node;
	c->nattr = 0;
	code(c);
	if (c->st == HU_OK)
		made = hu_import_find(c, *out);
	c->node = was;
	free(own);
	return made;
}

hu_value *
hu_inner_two(hu_inner *x, hu_node_import *code, const char *op, hu_value *a, hu_value *b)
{
	hu_value *in[2] = { a, b };

	return a && b ? hu_inner_node(x, code, op, in, 2, NULL, 0) : NULL;
}

hu_value *
hu_inner_one(hu_inner *x, hu_node_import *code, const char *op, hu_value *a)
{
	return hu_inner_node(x, code, op, &a, 1, NULL, 0);
}
