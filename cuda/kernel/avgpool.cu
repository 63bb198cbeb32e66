/* SPDX-License-Identifier: Apache-2.0
   avgpool: y[N,C] = the mean over an image's pixels for each channel, by the fixed tree and a division. */
#include "cuda/element/stat.h"

extern "C" hu_status
HU_SIDE(op_avgpool)(hu_work *w)
{
	const hu_shape *x = &w->in[0]->shape;
	size_t pixels = x->d[1] * x->d[2];
	hu_slot mean;

	HU_TRY(HU_SIDE(sum_down)(w, w->in[0], x->d[0], pixels, x->d[3], &mean));
	HU_TRY(HU_SIDE(stat_divide)(w, &mean, (double)pixels));
	return HU_SIDE(stat_out)(w, &mean, w->out[0]);
}
