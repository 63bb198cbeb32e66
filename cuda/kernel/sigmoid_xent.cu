/* SPDX-License-Identifier: Apache-2.0
   sigmoid_xent: p = sigmoid of each logit; loss = sum(w xent) / sum(w), binary cross-entropy of logits. */
#include "cuda/element/reduce.cuh"

#define LOSS(S, T) (out[0][i] = hu_binary_xent##S(c, in[0][i], in[1][i], in[2][i]), out[1][i] = in[2][i])
HU_FORMULA(binary_loss, 3, 2, LOSS)
template <> inline constexpr int hu_is_long<binary_loss> = 1;
#undef LOSS

HU_KERNEL
binary_labels_kernel(HU_PARAM hu_store_operand labels, uint32_t n, hu_pulse *pulse)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		double label = hu_load_f64(&labels, i);
		if (label != 0 && label != 1)
			pulse->fault = HU_FAULT_BINARY;
	}
}

extern "C" hu_status
HU_SIDE(op_sigmoid_xent)(hu_work *w)
{
	size_t n = w->in[0]->n;
	hu_field m = hu_field_of(w, n, n), one = hu_field_of(w, 1, 1), p = hu_field_of(w, n, 1);
	hu_slot total[2];

	HU_TRY(HU_GO(w, binary_labels_kernel, hu_blocks_for(n, 256, 65535), 256, 0,
		hu_operand_of(w->in[1], HU_AT_EACH), (uint32_t)n, w->pulse));
	for (int k = 0; k < 3; k++)
		hu_field_in(&m, w->in[k], HU_AT_EACH);
	HU_TRY(hu_sum_along<binary_loss>(w, &m, 1, n, total));
	for (int k = 0; k < 2; k++)
		hu_field_in(&one, &total[k], HU_AT_EACH);
	hu_field_out(w, &one, w->out[0]);
	HU_TRY(HU_SIDE(formula)(w, &one, HU_FORMULA_div));
	if (w->call->nout < 2)
		return HU_OK;
	hu_field_in(&p, w->in[0], HU_AT_EACH);
	hu_field_out(w, &p, w->out[1]);
	return HU_SIDE(formula)(w, &p, HU_FORMULA_sigmoid);
}
