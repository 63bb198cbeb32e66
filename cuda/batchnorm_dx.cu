/* SPDX-License-Identifier: Apache-2.0
   batchnorm_dx: gradients of batchnorm from the recorded statistics:
   dx = gamma rstd (dy - mean(dy) - xhat mean(dy xhat)), dgamma = sum(dy xhat), dbeta = sum(dy). */
#include "cuda/norm_dx.cuh"

#define F(S, T) out[0][i] = hu_batchnorm_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i], in[6][i])
HU_FORMULA(batchnorm_dx, 7, 1, F)

extern "C" hu_status
HU_SIDE(op_batchnorm_dx)(hu_work *w)
{
	hu_field m = hu_norm_operands(w, HU_AT_CHANNEL);
	hu_slot sum[2];

	HU_TRY(hu_norm_db(w, HU_AT_CHANNEL, sum));
	for (int k = 0; k < 2; k++) {
		HU_TRY(HU_SIDE(stat_divide)(w, &sum[k], (double)(m.n / m.channels)));
		hu_field_in(&m, &sum[k], HU_AT_CHANNEL);
	}
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<batchnorm_dx>(w, &m);
}
