/* SPDX-License-Identifier: Apache-2.0
   batchnorm_dx: gradients of batchnorm from the recorded statistics:
   dx = gamma rstd (dy - mean(dy) - xhat mean(dy xhat)), dgamma = sum(dy xhat), dbeta = sum(dy). */
#include "cuda/element/norm_dx.cuh"

#define F(S, T) out[0][i] = hu_batchnorm_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i], in[6][i])
HU_FORMULA(batchnorm_dx, 7, 1, F)

/* operands: sums of dy and of dy xhat; results: their means, dgamma, dbeta */
#define SUMS(S, T)                                                                                                     \
	(out[0][i] = hu_quotient##S(c, in[0][i], c->k[0]), out[1][i] = hu_quotient##S(c, in[1][i], c->k[0]),           \
		out[2][i] = in[1][i], out[3][i] = in[0][i])
HU_FORMULA(sums, 2, 4, SUMS)
template <> inline constexpr int hu_is_long<sums> = 1;
#undef F
#undef SUMS

extern "C" hu_status
HU_SIDE(op_batchnorm_dx)(hu_work *w)
{
	hu_field m = hu_norm_operands(w, HU_AT_CHANNEL), each = hu_field_of(w, m.channels, 1);
	hu_slot sum[2], mean[2] = { hu_stat_slot(w, m.channels), hu_stat_slot(w, m.channels) };

	HU_TRY(hu_sum_down<hu_batch_term>(w, &m, 1, m.n / m.channels, sum));
	for (int k = 0; k < 2; k++) {
		hu_field_in(&each, &sum[k], HU_AT_EACH);
		hu_field_keep(&each, &mean[k]);
	}
	for (int k = 1; k < w->call->nout; k++)
		hu_field_out(w, &each, w->out[k]);
	each.nk = 1;
	each.k[0] = (double)(m.n / m.channels);
	HU_TRY(hu_field_run<sums>(w, &each));
	m.nout = 0;
	for (int k = 0; k < 2; k++)
		hu_field_in(&m, &mean[k], HU_AT_CHANNEL);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<batchnorm_dx>(w, &m);
}
