/* SPDX-License-Identifier: Apache-2.0
   Stochastic gradient descent. w_v is the velocity; without momentum there is none. */
#include "trainer/optim/optim.h"

void
hu_optim_sgd(hu_program *p, const hu_optim_options *o, int found)
{
	for (int i = 0, n = p->nt; i < n; i++) {
		int in[5], out[2], moving = o->momentum != 0;
		if (!p->t[i].trainable || p->t[i].grad < 0)
			continue;
		in[0] = i;
		in[1] = p->t[i].grad;
		in[2] = found;
		out[0] = hu_optim_next(p, i);
		if (moving) {
			in[3] = hu_optim_state(p, o, i, "v");
			out[1] = hu_optim_next(p, in[3]);
		}
		hu_call *c = hu_optim_update(p, o, "sgd", in, 3 + moving, out, 1 + moving);
		hu_attr_set(c, "momentum", o->momentum);
		hu_attr_set(c, "weight_decay", hu_optim_decay(o, p->t[i].name));
	}
}
