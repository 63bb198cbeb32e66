/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/fast.h"

#include "lib/op/performed.h"
#include "lib/sum/result.h"

hu_status
hu_flash_run(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env, int gradient)
{
	hu_flash x;

	HU_TRY(hu_flash_of(&x, c, in, gradient));
	if (hu_flash_has_fast(&x, in, c->nin) && !hu_performed_asked())
		(gradient ? hu_flash_fast_backward : hu_flash_fast_forward)(&x, out, env);
	else
		(gradient ? hu_flash_backward : hu_flash_forward)(&x, out, env);
	return HU_OK;
}

int
hu_flash_has_fast(const hu_flash *x, hu_tensor *const *in, int nin)
{
	for (int k = 0; k < nin; k++)
		if (hu_is_wide(in[k]->format))
			return 0;
	return x->f.id == HU_FP32 && x->inner.id == HU_SUM_FMA && x->inner.acc == HU_FP32 && x->inner.mode == HU_RNE &&
	       hu_part_format(x->inner).id == HU_FP32;
}
