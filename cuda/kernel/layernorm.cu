/* SPDX-License-Identifier: Apache-2.0
   layernorm: y = (x - mean) / sqrt(var + eps) gamma + beta with each row's own statistics. */
#include "cuda/element/norm.cuh"

extern "C" hu_status
HU_SIDE(op_layernorm)(hu_work *w)
{
	size_t channels = hu_last(w->in[0]->shape), rows = w->in[0]->n / channels;
	hu_slot mean, var[1], rstd;

	HU_TRY(HU_SIDE(sum_along)(w, w->in[0], rows, channels, &mean));
	HU_TRY(HU_SIDE(stat_divide)(w, &mean, (double)channels));
	hu_field squares = hu_norm_squares(w, &mean, HU_AT_ROW);
	HU_TRY(hu_sum_along<hu_square_term>(w, &squares, rows, channels, var));
	HU_TRY(HU_SIDE(stat_divide)(w, &var[0], (double)channels));
	HU_TRY(HU_SIDE(stat_inverse)(w, &var[0], &rstd));
	HU_TRY(hu_norm_apply(w, w->in[1], w->in[2], &mean, &rstd, HU_AT_ROW));
	if (w->call->nout > 1)
		HU_TRY(HU_SIDE(stat_out)(w, &mean, w->out[1]));
	return w->call->nout > 2 ? HU_SIDE(stat_out)(w, &rstd, w->out[2]) : HU_OK;
}
