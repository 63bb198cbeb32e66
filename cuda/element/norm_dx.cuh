/* SPDX-License-Identifier: Apache-2.0
   What the gradients of batchnorm and layernorm share. */
#ifndef HU_CUDA_NORM_DX_CUH
#define HU_CUDA_NORM_DX_CUH

#include "cuda/element/reduce.cuh"

/* operands: x, gamma, mean, rstd, dy */
#define HU_BATCH(S, T)                                                                                                 \
	(out[0][i] = in[4][i], out[1][i] = hu_scaled##S(c, in[4][i], hu_normal##S(c, in[0][i], in[2][i], in[3][i])))
HU_FORMULA(hu_batch_term, 5, 2, HU_BATCH)

/* how is HU_AT_CHANNEL or HU_AT_ROW, for statistics per channel or per row. */
static inline hu_field
hu_norm_operands(hu_work *w, int how)
{
	hu_field m = hu_field_of(w, w->in[0]->n, hu_last(w->in[0]->shape));

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_CHANNEL);
	hu_field_in(&m, w->in[2], how);
	hu_field_in(&m, w->in[3], how);
	hu_field_in(&m, w->in[4], HU_AT_EACH);
	return m;
}

/* Computes dgamma and dbeta, and their sums per channel: sum[0] of dy, sum[1] of dy xhat. */
static inline hu_status
hu_norm_db(hu_work *w, int how, hu_slot *sum)
{
	hu_field m = hu_norm_operands(w, how);

	HU_TRY(hu_sum_down<hu_batch_term>(w, &m, 1, m.n / m.channels, sum));
	if (w->call->nout > 1)
		HU_TRY(HU_SIDE(stat_out)(w, &sum[1], w->out[1]));
	return w->call->nout > 2 ? HU_SIDE(stat_out)(w, &sum[0], w->out[2]) : HU_OK;
}
#endif
