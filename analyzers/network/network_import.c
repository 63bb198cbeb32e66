/* SPDX-License-Identifier: Apache-2.0
   The model of a network imported for batches of some inputs, whose shapes the data say. */
#include "analyzers/network/network.h"

hu_status
hu_network_import(hu_network *n, hu_imported *m, size_t *batch)
{
	size_t kept = n->ngiven;

	HU_TRY(hu_samples_given(&n->s, batch, &n->given, &n->ngiven, &n->givencap));
	hu_status st = hu_import(m, &n->onnx, n->given, n->ngiven);
	n->ngiven = kept;
	return st;
}
