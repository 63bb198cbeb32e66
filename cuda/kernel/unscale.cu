/* SPDX-License-Identifier: Apache-2.0
   unscale: y = g fl32(1/(scale W)), where W is the loss weight. */
#include "cuda/element/scalar.cuh"
#include "cuda/element/stat.h"

HU_KERNEL
inverse_kernel(double *k, HU_PARAM hu_store_operand scale, double weight)
{
	k[0] = hu_unscale_by(hu_load_f64(&scale, 0), weight);
}

extern "C" hu_status
HU_SIDE(op_unscale)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);
	double *k = hu_numbers(w, 1);

	HU_TRY(HU_GO(w, inverse_kernel, 1, 1, 0, k, hu_operand_of(w->in[1], HU_AT_ONE),
		hu_attr_num(w->call, "loss_weight", 1)));
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	m.nk = 1;
	m.kd = k;
	return HU_SIDE(formula)(w, &m, HU_FORMULA_scale);
}
