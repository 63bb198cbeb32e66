/* SPDX-License-Identifier: Apache-2.0
   bias_db: db = the sum of dy over the rows, one for each channel, by the fixed tree. */
#include "cuda/element/stat.h"

extern "C" hu_status
HU_SIDE(op_bias_db)(hu_work *w)
{
	size_t channels = hu_last(w->in[0]->shape), n = w->in[0]->n;
	hu_slot sum;

	HU_TRY(HU_SIDE(sum_down)(w, w->in[0], 1, n / channels, channels, &sum));
	return HU_SIDE(stat_out)(w, &sum, w->out[0]);
}
