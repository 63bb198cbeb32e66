/* SPDX-License-Identifier: Apache-2.0
   all_reduce: one thread an element, which adds the operands' elements as the call's model says
   (lib/sum/table/model.h). */
#include "cuda/element/store.h"

extern "C" {
#include "lib/base/hash.h"
#include "lib/sum/collective.h"
#include "lib/sum/table/model.h"
}

typedef struct over_ranks {
	const void *data[HU_OVER_RANKS];
	int ranks, kind;
	hu_coding code;
	hu_sum sum;
	uint32_t stream;
	const hu_pulse *pulse;
} over_ranks;

HU_KERNEL_OF(256)
over_ranks_kernel(HU_PARAM over_ranks all, HU_PARAM hu_store_result y, uint32_t n)
{
	double x[HU_OVER_RANKS], one[HU_OVER_RANKS];

	for (int k = 0; k < all.ranks; k++)
		one[k] = 1;
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		hu_draw draw = { all.pulse->seed, all.stream, all.pulse->step, (uint64_t)i * (uint64_t)all.ranks,
			all.sum.bits };
		hu_store_operand from = { NULL, all.kind, 0, all.code };
		for (int k = 0; k < all.ranks; k++) {
			from.data = all.data[k];
			x[k] = hu_load_f64(&from, i);
		}
		hu_store_f64(&y, i, hu_model_run(x, one, (size_t)all.ranks, all.sum, &draw, NULL));
	}
}

extern "C" hu_status
HU_SIDE(op_all_reduce)(hu_work *w)
{
	const hu_call *c = w->call;
	hu_store_operand first = hu_operand_of(w->all[0], 0);
	over_ranks all = { { NULL }, c->nin, first.kind, first.code, c->sum, hu_draw_stream(c->seed_name), w->pulse };
	hu_slot raw;

	for (int k = 0; k < c->nin; k++) {
		if (w->all[k]->format != w->all[0]->format)
			return hu_fail(HU_EINVAL, "all_reduce: operand %d is %s and operand 0 is %s: ranks send one "
				"format",
				k, hu_format_name(w->all[k]->format), hu_format_name(w->all[0]->format));
		all.data[k] = w->all[k]->data;
	}
	hu_store_result y = hu_result_begin(w, w->out[0], &raw, 1);
	HU_TRY(HU_GO(w, over_ranks_kernel, hu_blocks_for(w->out[0]->n, 128, 65535), 128, 0, all, y,
		(uint32_t)w->out[0]->n));
	return hu_result_finish(w, &raw, w->out[0]);
}
