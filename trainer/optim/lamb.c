/* SPDX-License-Identifier: Apache-2.0
   LAMB (You and others, Large batch optimization for deep learning, 2020): AdamW's direction u = m^ / (sqrt(v^) + eps)
   + decay w, times the learning rate and the trust ratio ||w|| / ||u|| of each parameter, which is 1 where either norm
   is 0. Every step of that is a call: adamw with the rate 1 takes u off the weight, and the difference of both is u. In
   a skipped step u is 0, and so is found_inf's complement, which stands for the ratio 1. The last call is gradient
   descent by the step at the rate 1, a difference that is rounded once and whose swamped updates are counted. */
#include "trainer/optim/optim.h"

#include <stdio.h>

/* Appends a call whose output is the tensor LAYER.ROLE_SUFFIX of parameter i. Where scalar is set it is one, in float32
   or wider. */
static int
call(hu_program *p, int i, const char *op, const char *suffix, int scalar, const int *in, int nin)
{
	char name[HU_NAME + 16];
	hu_format_id f = p->t[i].format == HU_FP64 ? HU_FP64 : scalar ? HU_FP32 : p->t[i].format;

	snprintf(name, sizeof name, "%s_%s", p->t[i].name, suffix);
	int out = hu_program_tensor(p, name, f, scalar ? hu_shape0() : p->t[i].shape, HU_OTHER);
	hu_program_call(p, op, HU_UPDATE, p->t[i].layer, in, nin, &out, 1);
	return out;
}

/* Appends AdamW's moments and returns the weight that a step of rate 1 would leave. */
static int
moved(hu_program *p, const hu_optim_options *o, int i, int found, int clock)
{
	char name[HU_NAME + 16];
	int in[6] = { i, p->t[i].grad, found, hu_optim_state(p, o, i, "m"), hu_optim_state(p, o, i, "v"), clock },
	    out[3];

	snprintf(name, sizeof name, "%s_moved", p->t[i].name);
	out[0] = hu_program_tensor(p, name, p->t[i].format, p->t[i].shape, HU_OTHER);
	out[1] = hu_optim_next(p, in[3]);
	out[2] = hu_optim_next(p, in[4]);
	hu_call *c = hu_program_call(p, "adamw", HU_UPDATE, p->t[i].layer, in, 6, out, 3);
	hu_attr_set(c, "lr", 1);
	hu_attr_set(c, "beta1", o->beta1);
	hu_attr_set(c, "beta2", o->beta2);
	hu_attr_set(c, "eps", o->eps);
	hu_attr_set(c, "weight_decay", hu_optim_decay(o, p->t[i].name));
	return out[0];
}

static int
trust(hu_program *p, int i, int u, int found)
{
	int w = call(p, i, "reduce_norm", "norm", 1, &i, 1), d = call(p, i, "reduce_norm", "u_norm", 1, &u, 1);
	int both = call(p, i, "mul", "norms", 1, (int[]){ w, d }, 2),
	    q = call(p, i, "div", "ratio", 1, (int[]){ w, d }, 2), one = call(p, i, "logical_not", "one", 1, &found, 1);

	return call(p, i, "where", "trust", 1, (int[]){ both, q, one }, 3);
}

void
hu_optim_lamb(hu_program *p, const hu_optim_options *o, int found)
{
	int clock = hu_optim_clock(p, o, found), rate = hu_program_find(p, "optim.rate");

	for (int i = 0, n = p->nt; i < n; i++) {
		if (!p->t[i].trainable || p->t[i].grad < 0)
			continue;
		int u = call(p, i, "sub", "u", 0, (int[]){ i, moved(p, o, i, found, clock) }, 2);
		int by = trust(p, i, u, found);
		if (rate >= 0)
			by = call(p, i, "scale", "rate", 1, (int[]){ by, rate }, 2);
		int step = call(p, i, "scale", "step", 0, (int[]){ u, by }, 2);
		if (rate < 0)
			hu_attr_set(&p->c[p->nc - 1], "factor", o->lr);
		int in[3] = { i, step, found }, out = hu_optim_next(p, i);
		hu_attr_set(hu_program_call(p, "sgd", HU_UPDATE, p->t[i].layer, in, 3, &out, 1), "lr", 1);
	}
}
