/* SPDX-License-Identifier: Apache-2.0
   The constant tensors of an ONNX model as items: initialisers, and values of Constant nodes by the name of their
   output. What its operators are is not compared here. */
#include "analyzers/drift/contents/contents_source.h"
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Graphs inside of nodes have names of their own, so that two constants may share one: later ones get a number, in the
   order of the file. */
static char *
own_name(const hu_onnx *m, size_t i)
{
	int before = 0;

	for (size_t k = 0; k < i; k++)
		before += m->tensor[k]->bits && !strcmp(m->tensor[k]->name, m->tensor[i]->name);
	return before ? hu_xprintf("%s#%d", m->tensor[i]->name, before + 1) : hu_xstrdup(m->tensor[i]->name);
}

hu_status
hu_contents_add_onnx(hu_contents *c, const char *path)
{
	hu_contents_source *s = hu_contents_source_add(c);

	HU_TRY(hu_onnx_open(&s->onnx, path));
	s->is_onnx = 1;
	for (size_t i = 0; i < s->onnx.n; i++) {
		const hu_stensor *from = s->onnx.tensor[i];
		if (!from->bits) /* a text */
			continue;
		hu_item *t = hu_contents_add(c, own_name(&s->onnx, i));
		t->rank = from->rank;
		memcpy(t->shape, from->shape, sizeof t->shape);
		t->bytes = from->bytes;
		t->data = from->data;
		hu_item_set_dtype(t, from->dtype);
	}
	return HU_OK;
}
