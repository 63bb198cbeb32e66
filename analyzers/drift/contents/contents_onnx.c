/* SPDX-License-Identifier: Apache-2.0
   The constant tensors of an ONNX model as items: initialisers, and values of Constant nodes by the name of their
   output. What its operators are is not compared here. */
#include "analyzers/drift/contents/contents_source.h"
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor, and how many before it in the file have its name. */
typedef struct named {
	const char *name;
	size_t at;
	int before;
} named;

static int
by_name(const void *a, const void *b)
{
	const named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int
by_place(const void *a, const void *b)
{
	const named *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* The tensors that have elements (others are texts), in the order of the file. Graphs inside of nodes have names of
   their own, so that two constants may share one: later ones get a number. A file may have any number of them, so that
   they are sorted to be counted. The caller frees the array. */
static named *
names_of(const hu_onnx *m, size_t *n)
{
	named *all = hu_xmalloc((m->n + 1) * sizeof *all);

	*n = 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->tensor[i]->bits)
			all[(*n)++] = (named){ m->tensor[i]->name, i, 0 };
	qsort(all, *n, sizeof *all, by_name);
	for (size_t i = 1; i < *n; i++)
		if (!strcmp(all[i - 1].name, all[i].name))
			all[i].before = all[i - 1].before + 1;
	qsort(all, *n, sizeof *all, by_place);
	return all;
}

hu_status
hu_contents_add_onnx(hu_contents *c, const char *path)
{
	hu_contents_source *s = hu_contents_source_add(c);
	size_t n;

	HU_TRY(hu_onnx_open(&s->onnx, path));
	s->is_onnx = 1;
	named *all = names_of(&s->onnx, &n);
	for (size_t i = 0; i < n; i++) {
		const hu_stensor *from = s->onnx.tensor[all[i].at];
		hu_item *t = hu_contents_add(
			c, all[i].before ? hu_xprintf("%s#%d", from->name, all[i].before + 1) : hu_xstrdup(from->name));
		t->rank = from->rank;
		memcpy(t->shape, from->shape, sizeof t->shape);
		t->bytes = from->bytes;
		t->data = from->data;
		hu_item_set_dtype(t, from->dtype);
	}
	free(all);
	return HU_OK;
}
