/* SPDX-License-Identifier: Apache-2.0
   batchnorm: y = (x - mean) / sqrt(var + eps) gamma + beta with each channel's own
   statistics over the batch, and the running ones moved toward them. */
#include "cuda/norm.cuh"

#define BLEND(S, T) out[0][i] = hu_blend##S(c, in[0][i], in[1][i])
HU_FORMULA(blend, 2, 1, BLEND)

/* The running statistic OLD after this batch's FRESH, to output T. */
static hu_status
move(hu_work *w, const hu_slot *old, const hu_slot *fresh, const hu_slot *t)
{
	double momentum = hu_attr_num(w->call, "momentum", 0.99);
	hu_field m = hu_field_of(w, old->n, 1);

	hu_field_in(&m, old, HU_AT_EACH);
	hu_field_in(&m, fresh, HU_AT_EACH);
	hu_field_out(w, &m, t);
	m.nk = 3;
	m.k[1] = momentum;
	m.k[2] = 1 - momentum;
	return hu_field_run<blend>(w, &m);
}

extern "C" hu_status
HU_SIDE(op_batchnorm)(hu_work *w)
{
	size_t channels = hu_last(w->in[0]->shape), rows = w->in[0]->n / channels;
	hu_slot mean, var[1], rstd;

	HU_TRY(HU_SIDE(sum_down)(w, w->in[0], 1, rows, channels, &mean));
	HU_TRY(HU_SIDE(stat_divide)(w, &mean, (double)rows));
	hu_field squares = hu_norm_squares(w, &mean, HU_AT_CHANNEL);
	HU_TRY(hu_sum_down<hu_square_term>(w, &squares, 1, rows, var));
	HU_TRY(HU_SIDE(stat_divide)(w, &var[0], (double)rows));
	HU_TRY(HU_SIDE(stat_inverse)(w, &var[0], &rstd));
	HU_TRY(hu_norm_apply(w, w->in[1], w->in[2], &mean, &rstd, HU_AT_CHANNEL));
	if (w->call->nout > 1)
		HU_TRY(HU_SIDE(stat_out)(w, &mean, w->out[1]));
	if (w->call->nout > 2)
		HU_TRY(HU_SIDE(stat_out)(w, &rstd, w->out[2]));
	for (int k = 3; k < w->call->nout; k++)
		HU_TRY(move(w, w->in[k], k == 3 ? &mean : &var[0], w->out[k]));
	return HU_OK;
}
