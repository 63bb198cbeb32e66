/* SPDX-License-Identifier: Apache-2.0
   batchnorm_eval: y = (x - rm) / sqrt(rv + eps) gamma + beta with the running statistics. */
#include "cuda/element/norm.cuh"

extern "C" hu_status
HU_SIDE(op_batchnorm_eval)(hu_work *w)
{
	hu_slot rstd;

	HU_TRY(HU_SIDE(stat_inverse)(w, w->in[4], &rstd));
	return hu_norm_apply(w, w->in[1], w->in[2], w->in[3], &rstd, HU_AT_CHANNEL);
}
