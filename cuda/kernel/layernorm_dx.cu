/* SPDX-License-Identifier: Apache-2.0
   layernorm_dx: gradients of layernorm from the recorded statistics: with g = gamma dy,
   dx = rstd (g - mean(g) - xhat mean(g xhat)), dgamma = sum(dy xhat), dbeta = sum(dy). */
#include "cuda/element/norm_dx.cuh"

#define G(S, T)                                                                                                        \
	(out[0][i] = hu_scaled##S(c, in[1][i], in[4][i]),                                                              \
		out[1][i] = hu_scaled##S(                                                                              \
			c, hu_scaled##S(c, in[1][i], in[4][i]), hu_normal##S(c, in[0][i], in[2][i], in[3][i])))
#define F(S, T) out[0][i] = hu_layernorm_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i], in[6][i])
HU_FORMULA(g_terms, 5, 2, G)
HU_FORMULA(layernorm_dx, 7, 1, F)
#undef G
#undef F

extern "C" hu_status
HU_SIDE(op_layernorm_dx)(hu_work *w)
{
	hu_field terms = hu_norm_operands(w, HU_AT_ROW), m = terms;
	hu_slot mean[2], sum[2];

	HU_TRY(hu_sum_along<g_terms>(w, &terms, m.n / m.channels, m.channels, mean));
	for (int k = 0; k < 2; k++) {
		HU_TRY(HU_SIDE(stat_divide)(w, &mean[k], (double)m.channels));
		hu_field_in(&m, &mean[k], HU_AT_ROW);
	}
	hu_field_out(w, &m, w->out[0]);
	HU_TRY(hu_field_run<layernorm_dx>(w, &m));
	return hu_norm_db(w, HU_AT_ROW, sum);
}
