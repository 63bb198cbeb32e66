/* SPDX-License-Identifier: Apache-2.0
   Attributes of the node at hand, and lists that are attributes or inputs. An attribute that no code looks at would be
   left out in silence, and so it is refused. */
#include "lib/import/importing.h"

#include "lib/base/show.h"

#include <stdlib.h>
#include <string.h>

/* Attributes that change no value here, of an operator or, where that is "", of all. */
static const struct {
	const char *op, *name;
} unread[] = {
#define UNREAD(op, name) { op, #name },
#include "lib/import/attribute/unread.def"
#undef UNREAD
};

static int
changes_nothing(const char *op, const char *name)
{
	for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
		if (!strcmp(unread[i].name, name) && (!*unread[i].op || !strcmp(unread[i].op, op)))
			return 1;
	return 0;
}

void
hu_import_all_read(hu_importing *c)
{
	const hu_onnx_node *x = c->own;

	for (size_t i = 0; i < x->nattr && c->st == HU_OK; i++)
		if (!c->asked[i] && !changes_nothing(x->op, x->attr[i].name))
			hu_import_fail(c, HU_EUNABLE,
				"its attribute '%.60s' is not known here, so that what the node computes is not known "
				"either; remove it if it has no effect",
				x->attr[i].name);
}

/* The code at hand looks at attribute A, perhaps of a node that stands for the graph's own: names are shared then. */
static void
mark(hu_importing *c, const hu_onnx_attr *a)
{
	for (size_t i = 0; c->own && c->asked && i < c->own->nattr; i++)
		if (c->own->attr[i].name == a->name)
			c->asked[i] = 1;
}

const hu_onnx_attr *
hu_import_attr(hu_importing *c, const char *name)
{
	const hu_onnx_attr *a = c->node ? hu_onnx_attr_find(c->node, name) : NULL;

	if (a)
		mark(c, a);
	if (a && *a->ref)
		return c->scope->caller ? hu_onnx_attr_find(c->scope->caller, a->ref) : NULL;
	return a;
}

/* Fails where A, which must hold a KIND, holds another one. */
static int
holds(hu_importing *c, const hu_onnx_attr *a, int yes, const char *kind)
{
	if (a && !yes)
		hu_import_fail(c, HU_EFILE, "its attribute '%.60s' is no %s", a->name, kind);
	return a && yes;
}

static const char *const flags[] = {
#define FLAG(name) #name,
#include "lib/import/attribute/flags.def"
#undef FLAG
	NULL
};

int64_t
hu_import_int(hu_importing *c, const char *name, int64_t otherwise)
{
	const hu_onnx_attr *a = hu_import_attr(c, name);

	if (!holds(c, a, a && a->has_i, "whole number"))
		return otherwise;
	for (size_t i = 0; flags[i] && a->i != 0 && a->i != 1; i++)
		if (!strcmp(flags[i], name))
			hu_import_fail(c, HU_EUNABLE, "its attribute '%s' is %lld; 0 and 1 are possible", name,
				(long long)a->i);
	return a->i;
}

double
hu_import_real(hu_importing *c, const char *name, double otherwise)
{
	const hu_onnx_attr *a = hu_import_attr(c, name);

	return holds(c, a, a && a->has_f, "real number") ? a->f : otherwise;
}

/* The words that are possible for attribute NAME of the node at hand, NULL: any. */
static const char *
words_of(const hu_importing *c, const char *name)
{
	static const struct {
		const char *op, *name, *list;
	} row[] = {
#define WORDS(op, name, list) { op, #name, list },
#include "lib/import/attribute/words.def"
#undef WORDS
	};
	const char *all = NULL;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		if (strcmp(row[i].name, name))
			continue;
		if (!strcmp(row[i].op, c->node->op))
			return row[i].list;
		if (!*row[i].op)
			all = row[i].list;
	}
	return all;
}

static int
listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list; *s; s += strcspn(s, " ") + (s[strcspn(s, " ")] != 0))
		if (strcspn(s, " ") == n && !strncmp(s, word, n))
			return 1;
	return 0;
}

const char *
hu_import_text(hu_importing *c, const char *name, const char *otherwise)
{
	const hu_onnx_attr *a = hu_import_attr(c, name);

	if (!holds(c, a, a && a->s, "text"))
		return otherwise;
	const char *list = words_of(c, name);
	if (list && !listed(list, a->s))
		hu_import_fail(
			c, HU_EUNABLE, "its attribute '%s' is '%.60s'; possible are: %s", name, hu_shown(a->s), list);
	return a->s;
}

int
hu_import_list(hu_importing *c, const char *name, size_t i, double *list, int most)
{
	const hu_onnx_attr *a = name ? hu_import_attr(c, name) : NULL;
	hu_value *v = a ? NULL : hu_import_in(c, i);
	size_t n = a ? a->nints : v ? v->n : 0;

	if (!a && !v)
		return -1;
	if (n > (size_t)most)
		return hu_import_fail(c, HU_EUNABLE, "its list %s has %zu entries; at most %d are possible",
			name ? name : v->name, n, most);
	if (a) {
		for (size_t k = 0; k < n; k++)
			list[k] = (double)a->ints[k];
		return (int)n;
	}
	double *x = hu_import_constant(c, v);
	for (size_t k = 0; x && k < n; k++)
		list[k] = x[k];
	free(x);
	return x ? (int)n : -1;
}
