/* SPDX-License-Identifier: Apache-2.0
   sgd: g += decay w; v = momentum v + g; w -= lr v (without v: w -= lr g). Where
   found_inf is set the old values are selected. */
#include "cuda/map.cuh"

/* operands: w, g, found_inf, v */
#define STEP(S, T) out[0][i] = in[2][i] != 0 ? in[0][i] : hu_sgd##S(c, in[0][i], in[1][i], NULL, NULL)
#define MOVE(S, T)                                                                           \
	do {                                                                                 \
		if (in[2][i] != 0) {                                                         \
			out[0][i] = in[0][i];                                                \
			out[1][i] = in[3][i];                                                \
		} else {                                                                     \
			out[0][i] = hu_sgd##S(c, in[0][i], in[1][i], &in[3][i], &out[1][i]); \
		}                                                                            \
	} while (0)
HU_FORMULA(step, 3, 1, STEP)
HU_FORMULA(move, 4, 2, MOVE)

extern "C" hu_status
HU_SIDE(op_sgd)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_EACH);
	hu_field_in(&m, w->in[2], HU_AT_ONE);
	if (w->call->nin > 3)
		hu_field_in(&m, w->in[3], HU_AT_EACH);
	for (int k = 0; k < w->call->nout; k++)
		hu_field_out(w, &m, w->out[k]);
	m.nk = 3;
	m.k[0] = hu_attr_num(w->call, "lr", 0.01);
	m.k[1] = hu_attr_num(w->call, "momentum", 0);
	m.k[2] = hu_attr_num(w->call, "weight_decay", 0);
	return w->call->nin > 3 ? hu_field_run<move>(w, &m) : hu_field_run<step>(w, &m);
}
