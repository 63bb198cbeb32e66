/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/contract.h"

int
hu_contract_cut(const hu_call *c, const hu_shape *in, double macs, size_t least, size_t *step)
{
	hu_contract x;

	*step = 0;
	if (HU_COLUMN(c->op, enclose) != hu_contract_enclose)
		return 1;
	hu_contract_describe(&x, c, in);
	/* Rows of all batches lie side by side within row_step where that is the larger step. */
	size_t side = x.batches > 1 && x.row_step > x.batch_step ? x.batches : 1, all = x.m * x.n * x.batches;
	double rows = macs / ((double)x.n * (double)x.k * (double)side + 1);
	if (!all || !x.row_step)
		return 1;
	*step = (rows > (double)least ? (size_t)rows : least) * x.row_step;
	size_t tiles = (all + *step - 1) / *step;
	return tiles > 1 && tiles < 1000000 ? (int)tiles : 1;
}
