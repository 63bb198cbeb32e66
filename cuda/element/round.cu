/* SPDX-License-Identifier: Apache-2.0
   Rounds results that were kept exactly, in every mode, flag and format of lib/number. */
#include "cuda/element/store.h"

extern "C" {
#include "lib/base/hash.h"
#include "lib/number/draw.h"
}

typedef struct rounding { hu_format f; hu_mode mode; int flags; uint32_t stream; const hu_pulse *pulse; } rounding;

HU_KERNEL
round_kernel(HU_PARAM rounding by, HU_PARAM hu_store_operand from, HU_PARAM hu_store_result to, uint32_t n)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		hu_stream random = { by.pulse->seed, by.stream, by.pulse->step };
		double x = hu_round_drawn(hu_load_f64(&from, i), by.f, by.mode, by.flags, random, i);
		if (to.kind == HU_KIND_F64)
			hu_store_f64(&to, i, x);
		else
			hu_put_f32(&to, i, (float)x);
	}
}

extern "C" hu_status
HU_SIDE(round)(hu_work *w, const hu_slot *from, const hu_slot *to)
{
	rounding by = { hu_format_of(to->format), w->call->mode, w->call->flags, hu_fnv1a32(w->call->seed_name),
		w->pulse };

	if (!to->n)
		return HU_OK;
	return HU_GO(w, round_kernel, hu_blocks_for(to->n, 256, 65535), 256, 0, by, hu_operand_of(from, 0),
		hu_result_of(to, 0), (uint32_t)to->n);
}
