/* SPDX-License-Identifier: Apache-2.0
   Lion (Chen and others, Symbolic discovery of optimization algorithms, 2023): w -= lr (sign(beta1 m + (1 - beta1) g) +
   decay w), then m = beta2 m + (1 - beta2) g. The interpolation whose sign is taken is in float32 or wider; m is in the
   states' format. The last call is gradient descent by the sign, with the weight decay, so that its swamped updates are
   counted. */
#include "trainer/optim/optim.h"

void
hu_optim_lion(hu_program *p, const hu_optim_options *o, int found)
{
	for (int i = 0, n = p->nt; i < n; i++) {
		if (!p->t[i].trainable || p->t[i].grad < 0)
			continue;
		hu_format_id wide = p->t[i].format == HU_FP64 ? HU_FP64 : HU_FP32;
		int m = hu_optim_state(p, o, i, "m"), g[2] = { m, p->t[i].grad };
		int c = hu_optim_apply(p, i, "axpby", "direction", wide, 0, g, 2);
		hu_attr_set(&p->c[p->nc - 1], "alpha", o->beta1);
		hu_attr_set(&p->c[p->nc - 1], "beta", 1 - o->beta1);
		int in[4] = { i, hu_optim_apply(p, i, "sign", "sign", wide, 0, &c, 1), found };
		int moved = hu_optim_apply(p, i, "axpby", "m_moved", p->t[m].format, 0, g, 2),
		    out = hu_optim_next(p, i);
		hu_attr_set(&p->c[p->nc - 1], "alpha", o->beta2);
		hu_attr_set(&p->c[p->nc - 1], "beta", 1 - o->beta2);
		hu_call *u = hu_optim_update(p, o, "sgd", in, 3, &out, 1);
		hu_attr_set(u, "weight_decay", hu_optim_decay(o, p->t[i].name));
		hu_optim_keep(p, i, m, moved, found);
	}
}
