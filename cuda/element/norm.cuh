/* SPDX-License-Identifier: Apache-2.0
   What the forward parts of batchnorm (statistics of a channel, down the rows) and layernorm (of a row, along the
   channels) share, as in lib/op/reduce/norm.c: two passes, the mean and then the biased variance around it. */
#ifndef HU_CUDA_NORM_CUH
#define HU_CUDA_NORM_CUH

#include "cuda/element/reduce.cuh"

#define HU_APPLY(S, T) out[0][i] = hu_norm_apply##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i])
HU_FORMULA(hu_apply_term, 5, 1, HU_APPLY)

/* y = (x - mean) rstd gamma + beta; how is HU_AT_CHANNEL or HU_AT_ROW, for statistics per channel or per row. */
static inline hu_status
hu_norm_apply(hu_work *w, const hu_slot *gamma, const hu_slot *beta, const hu_slot *mean, const hu_slot *rstd, int how)
{
	hu_field m = hu_field_of(w, w->in[0]->n, hu_last(w->in[0]->shape));

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, gamma, HU_AT_CHANNEL);
	hu_field_in(&m, beta, HU_AT_CHANNEL);
	hu_field_in(&m, mean, how);
	hu_field_in(&m, rstd, how);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<hu_apply_term>(w, &m);
}

#define HU_SQUARE(S, T) out[0][i] = hu_deviation2##S(c, in[0][i], in[1][i])
HU_FORMULA(hu_square_term, 2, 1, HU_SQUARE)

/* The map of squared deviations from mean. */
static inline hu_field
hu_norm_squares(hu_work *w, const hu_slot *mean, int how)
{
	hu_field m = hu_field_of(w, w->in[0]->n, hu_last(w->in[0]->shape));

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, mean, how);
	return m;
}
#endif
