/* SPDX-License-Identifier: Apache-2.0
   adamw: Adam with decoupled weight decay in one pass over weight, moments and gradient; the
   bias corrections come from the clock. Where found_inf is set the old values are selected. */
#include "cuda/scalar.cuh"

/* operands: w, g, m, v, found_inf */
#define STEP(S, T)                                                       \
	do {                                                             \
		T m = in[2][i], v = in[3][i];                            \
		out[0][i] = in[0][i];                                    \
		if (!(in[4][i] != 0))                                    \
			out[0][i] = hu_adamw##S(c, in[0][i], in[1][i], &m, &v); \
		out[1][i] = m;                                           \
		out[2][i] = v;                                           \
	} while (0)
HU_FORMULA(step, 5, 3, STEP)

HU_KERNEL
constants_kernel(double *k, HU_PARAM hu_operand clock, hu_format v, double lr, double b1, double b2, double eps, double decay)
{
	hu_adamw_constants(k, lr, b1, b2, eps, decay, hu_load_f64(&clock, 1), hu_load_f64(&clock, 2), v);
}

extern "C" hu_status
HU_SIDE(op_adamw)(hu_work *w)
{
	const hu_call *c = w->call;
	hu_field m = hu_field_of(w, w->in[0]->n, 1);
	double *k = hu_numbers(w, 9);

	HU_TRY(HU_GO(w, constants_kernel, 1, 1, 0, k, hu_operand_of(w->in[5], HU_AT_EACH), hu_format_of(w->in[4]->format), hu_attr_num(c, "lr", 1e-3),
	             hu_attr_num(c, "beta1", 0.9), hu_attr_num(c, "beta2", 0.999), hu_attr_num(c, "eps", 1e-8), hu_attr_num(c, "weight_decay", 0.01)));
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_EACH);
	hu_field_in(&m, w->in[3], HU_AT_EACH);
	hu_field_in(&m, w->in[4], HU_AT_EACH);
	hu_field_in(&m, w->in[2], HU_AT_ONE);
	for (int i = 0; i < 3; i++)
		hu_field_out(w, &m, w->out[i]);
	m.nk = 9;
	m.kd = k;
	return hu_field_run<step>(w, &m);
}
