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
