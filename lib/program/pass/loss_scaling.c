/* SPDX-License-Identifier: Apache-2.0
   Loss scaling as calls: the seed gradient (scale times loss weight), unscaling, the finite check, the scale's update.
   The finite check judges the parameters' gradients, as every framework does. If one is not finite, it then searches
   everything the step wrote, in order, so that the first overflow can be named. */
#include "lib/program/pass/pass.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

int
hu_pass_loss_seed(hu_program *p, const hu_scaling *s)
{
	int in = hu_program_tensor(p, "scaler.scale", s->rule.wide ? HU_FP64 : HU_FP32, hu_shape0(), HU_OTHER);
	int wide = 0;

	p->t[in].state = 1;
	for (int i = 0; i < p->nc; i++)
		wide |= hu_program_is_loss(&p->c[i]) && p->c[i].fmt.compute == HU_FP64;
	int out = hu_program_tensor(p, "loss.dy", wide ? HU_FP64 : HU_FP32, hu_shape0(), HU_GRADIENT);
	p->t[out].loss_scaled = 1;
	hu_call *c = hu_program_call(p, "scale", HU_FORWARD, "scaler", &in, 1, &out, 1);
	hu_attr_set(c, "factor", s->loss_weight);
	return out;
}

/* Appends the call that unscales parameter t's gradient. */
static void
unscale(hu_program *p, int t, int scale, double weight)
{
	char name[HU_NAME + 16];
	int in[2] = { p->t[t].grad, scale };

	snprintf(name, sizeof name, "%s.d%s_unscaled", p->t[t].layer, p->t[t].role);
	int out = hu_program_tensor(p, name, p->t[in[0]].format, p->t[t].shape, HU_WGRAD);
	hu_call *c = hu_program_call(p, "unscale", HU_UPDATE, p->t[t].layer, in, 2, &out, 1);
	hu_attr_set(c, "loss_weight", weight);
	p->t[t].grad = out;
}

/* Adds the finite check: its inputs are the gradients to judge, then every floating-point tensor that a call has
   written so far, in order. */
static int
add_check(hu_program *p, int calls, int judged, const int *grads, int ngrads)
{
	int *in = hu_xmalloc(((size_t)p->nt + (size_t)ngrads) * sizeof *in), n = ngrads, out[2];

	memcpy(in, grads, (size_t)ngrads * sizeof *in);
	for (int i = 0; i < calls; i++)
		for (int k = 0; k < p->c[i].nout; k++)
			if (!p->t[p->c[i].out[k]].state)
				in[n++] = p->c[i].out[k];
	out[0] = hu_program_tensor(p, "scaler.found_inf", HU_FP32, hu_shape0(), HU_OTHER);
	out[1] = hu_program_tensor(p, "scaler.where", HU_FP32, hu_shape1(3), HU_OTHER);
	hu_call *c = hu_program_call(p, "finite_check", HU_UPDATE, "scaler", in, n, out, 2);
	hu_attr_set(c, "judged", judged);
	free(in);
	return out[0];
}

static void
set_rule(hu_call *c, const hu_scaler *r)
{
	hu_attr_set_text(c, "rule", r->name);
	hu_attr_set(c, "growth", r->growth);
	hu_attr_set(c, "backoff", r->backoff);
	hu_attr_set(c, "interval", r->interval);
	hu_attr_set(c, "floor", r->floor);
	hu_attr_set(c, "cap", r->cap);
	hu_attr_set(c, "hysteresis", r->hysteresis);
}

int
hu_scaling_moves(const hu_scaling *s)
{
	return strcmp(s->rule.name, "none") && strcmp(s->rule.name, "static");
}

hu_status
hu_pass_loss_scaling(hu_program *p, const hu_scaling *s, int *found)
{
	int scale = hu_program_find(p, "scaler.scale"), calls = p->nc, nt = p->nt, n = 0;
	int none = !strcmp(s->rule.name, "none"), *grads = hu_xmalloc(((size_t)nt + 1) * sizeof *grads);

	HU_ASSERT(scale >= 0);
	for (int i = 0; i < nt; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0)
			grads[n++] = p->t[i].grad;
	*found = add_check(p, calls, none ? 0 : n, grads, n);
	free(grads);
	for (int i = 0; i < nt; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0)
			unscale(p, i, scale, s->loss_weight);
	if (!hu_scaling_moves(s))
		return HU_OK;
	int tracker = hu_program_tensor(p, "scaler.tracker", HU_FP32, hu_shape1(4), HU_OTHER);
	p->t[tracker].state = 1;
	int in[3] = { scale, tracker, *found };
	int out[2] = { hu_program_tensor(p, "scaler.scale_next", p->t[scale].format, hu_shape0(), HU_OTHER),
		hu_program_tensor(p, "scaler.tracker_next", HU_FP32, hu_shape1(4), HU_OTHER) };
	set_rule(hu_program_call(p, "scale_update", HU_UPDATE, "scaler", in, 3, out, 2), &s->rule);
	p->t[scale].next = out[0];
	p->t[tracker].next = out[1];
	return HU_OK;
}
