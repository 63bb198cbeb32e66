/* SPDX-License-Identifier: Apache-2.0
   The model of a network imported for batches of some inputs, whose shapes the data say. */
#include "analyzers/network/network.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_network_import(hu_network *n, hu_imported *m, size_t *batch)
{
	size_t kept = n->ngiven;

	HU_TRY(hu_samples_given(&n->s, batch, &n->given, &n->ngiven, &n->givencap));
	hu_status st = hu_import(m, &n->onnx, n->given, n->ngiven, HU_TYPING_FLOAT32);
	n->ngiven = kept;
	return st;
}

/* What the data and the user say of open sizes, for one input. */
static hu_status
given_of_one(const hu_network *n, hu_given **given, size_t *ngiven)
{
	size_t cap = n->ngiven + 1, one = 1;

	*given = hu_xcalloc(cap, sizeof **given);
	*ngiven = n->ngiven;
	memcpy(*given, n->given, n->ngiven * sizeof **given);
	hu_status st = hu_samples_given(&n->s, &one, given, ngiven, &cap);
	if (st == HU_OK && one != 1)
		st = hu_fail(HU_EFILE, "%s: shapes follow from values, and the model's batch is fixed at %zu inputs",
			n->onnx.path, one);
	return st;
}

typedef struct row_of {
	const hu_samples *s;
	size_t row;
} row_of;

static void
fill(void *of, const char *input, hu_tensor *t)
{
	const row_of *r = of;

	for (size_t i = 0; i < r->s->narray; i++)
		if (!strcmp(r->s->input[i]->name, input))
			hu_samples_put(r->s, i, r->row, 0, 1, t);
}

hu_status
hu_network_computed(
	const hu_network *n, hu_imported *m, hu_answers *a, size_t row, const hu_onnx *onnx, hu_typing typing)
{
	row_of of = { &n->s, row };
	hu_given *given;
	size_t ngiven;

	*a = (hu_answers){ .n = 0 };
	hu_status st = given_of_one(n, &given, &ngiven);
	if (st == HU_OK)
		st = hu_import_computed(m, a, onnx, given, ngiven, typing, fill, &of);
	free(given);
	return st;
}

hu_status
hu_network_answered(const hu_network *n, hu_imported *m, const hu_answers *a, const hu_onnx *onnx, hu_typing typing)
{
	hu_given *given;
	size_t ngiven;

	hu_status st = given_of_one(n, &given, &ngiven);
	if (st == HU_OK)
		st = hu_import_answered(m, a, onnx, given, ngiven, typing);
	free(given);
	return st;
}

hu_status
hu_network_typed(const hu_network *n, hu_imported *m, const hu_onnx *onnx, hu_typing typing)
{
	hu_given *given = hu_xcalloc(n->ngiven + 1, sizeof *given);
	size_t ngiven = n->ngiven, cap = n->ngiven, batch = n->batch;

	memcpy(given, n->given, n->ngiven * sizeof *given);
	hu_status st = hu_samples_given(&n->s, &batch, &given, &ngiven, &cap);
	if (st == HU_OK)
		st = hu_import(m, onnx, given, ngiven, typing);
	free(given);
	for (size_t k = 0; st == HU_OK && k < m->nout; k++)
		if (k < n->m.nout)
			m->out[k].axis = n->m.out[k].axis;
	return st;
}
