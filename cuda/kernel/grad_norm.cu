/* SPDX-License-Identifier: Apache-2.0
   grad_norm: the Euclidean norm of all inputs together. Squares and sums are in the compute format: the fixed tree in
   each tensor, then the tensors' sums in order. */
#include "cuda/element/reduce.cuh"

/* The sums are values of the compute format. Their sum and its root are computed as on the CPU, in double with each
   operation rounded. */
HU_KERNEL
root_kernel(HU_PARAM hu_store_operand each, hu_format compute, int sums, double *root)
{
	double all = hu_load_f64(&each, 0);

	for (int k = 1; k < sums; k++)
		all = hu_rne(compute, all + hu_load_f64(&each, (uint32_t)k));
	*root = hu_rne(compute, sqrt(all));
}

extern "C" hu_status
HU_SIDE(op_grad_norm)(hu_work *w)
{
	hu_slot each = hu_stat_slot(w, (size_t)w->call->nin), root = hu_raw_slot(w, 1, HU_FP64), sum[1];

	for (int k = 0; k < w->call->nin; k++) {
		hu_field m = hu_field_of(w, w->all[k]->n, 1);
		hu_slot place = each;
		size_t used = w->used; /* the next tensor's intermediate sums overwrite this one's */
		hu_field_in(&m, w->all[k], HU_AT_EACH);
		HU_TRY(hu_sum_down<hu_squared>(w, &m, 1, w->all[k]->n, sum));
		place.n = 1;
		place.data = (unsigned char *)each.data + (size_t)k * hu_slot_size(each.format);
		HU_TRY(HU_SIDE(stat_copy)(w, &sum[0], &place));
		w->used = used;
	}
	HU_TRY(HU_GO(w, root_kernel, 1, 1, 0, hu_operand_of(&each, 0), hu_format_of(w->call->fmt.compute), w->call->nin,
		(double *)root.data));
	return HU_SIDE(round)(w, &root, w->out[0]);
}
