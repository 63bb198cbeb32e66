/* SPDX-License-Identifier: Apache-2.0
   Appends the calls of Adam and AdamW. optim.clock holds the step t, beta1^t and beta2^t for the bias corrections, and
   does not advance on a skipped step; w_m and w_v are the two moments. */
#include "trainer/optim/optim.h"

int
hu_optim_clock(hu_program *p, const hu_optim_options *o, int found)
{
	int in[2], out;

	in[0] = hu_program_tensor(p, "optim.clock", HU_FP64, hu_shape1(3), HU_OTHER);
	p->t[in[0]].state = 1;
	in[1] = found;
	out = hu_optim_next(p, in[0]);
	hu_call *c = hu_program_call(p, "adam_clock", HU_UPDATE, "optim", in, 2, &out, 1);
	hu_attr_set(c, "beta1", hu_optim_constant(o, o->beta1));
	hu_attr_set(c, "beta2", hu_optim_constant(o, o->beta2));
	return out;
}

void
hu_optim_moments_of(hu_program *p, const hu_optim_options *o, int i, int found, int clock, const char *op,
	void (*more)(hu_call *c, const hu_optim_options *o, const char *parameter))
{
	int in[7] = { i, p->t[i].grad, found, hu_optim_state(p, o, i, "m"), hu_optim_state(p, o, i, "v"), clock },
	    out[3];

	out[0] = hu_optim_next(p, i);
	out[1] = hu_optim_next(p, in[3]);
	out[2] = hu_optim_next(p, in[4]);
	hu_call *c = hu_optim_update(p, o, op, in, 6, out, 3);
	hu_attr_set(c, "beta1", hu_optim_beta(o, o->beta1));
	hu_attr_set(c, "beta2", hu_optim_beta(o, o->beta2));
	hu_attr_set(c, "eps", hu_optim_constant(o, o->eps));
	if (more)
		more(c, o, p->t[i].name);
}

void
hu_optim_moments(hu_program *p, const hu_optim_options *o, int found, const char *op,
	void (*more)(hu_call *c, const hu_optim_options *o, const char *parameter))
{
	int clock = hu_optim_clock(p, o, found);

	for (int i = 0, n = p->nt; i < n; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0)
			hu_optim_moments_of(p, o, i, found, clock, op, more);
}
