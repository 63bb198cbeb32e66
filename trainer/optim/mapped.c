/* SPDX-License-Identifier: Apache-2.0
   Appends AdamW's step with moments that are held as codes of a map. */
#include "trainer/optim/optim.h"

#include <stdio.h>

/* bitsandbytes' and torchao's: smaller parameters keep moments in float32. */
enum { LEAST_ELEMENTS = 4096 };

static void
decay(hu_call *c, const hu_optim_options *o, const char *parameter)
{
	hu_attr_set(c, "weight_decay", hu_optim_decay(o, parameter));
}

/* Appends the tensor LAYER.ROLE_SUFFIX of a state's format. */
static int
beside(hu_program *p, int i, int state, const char *suffix)
{
	char name[HU_NAME + 24];

	snprintf(name, sizeof name, "%s_%s", p->t[i].name, suffix);
	return hu_program_tensor(p, name, p->t[state].format, p->t[i].shape, HU_OTHER);
}

void
hu_optim_mapped(hu_program *p, const hu_optim_options *given, int found, const char *m, const char *v, size_t size)
{
	hu_optim_options o = *given;
	int clock = hu_optim_clock(p, &o, found);

	o.state = 1 + (int)HU_FP32;
	for (int i = 0, n = p->nt; i < n; i++) {
		if (!p->t[i].trainable || p->t[i].grad < 0)
			continue;
		if (hu_count(p->t[i].shape) < LEAST_ELEMENTS) {
			hu_optim_moments_of(p, &o, i, found, clock, "adamw", decay);
			continue;
		}
		const char *map[2] = { m, v }, *moved[2] = { "m_moved", "v_moved" },
			   *coded[2] = { "m_coded", "v_coded" };
		int in[7] = { i, p->t[i].grad, found, hu_optim_state(p, &o, i, "m"), hu_optim_state(p, &o, i, "v"),
			clock },
		    out[3] = { hu_optim_next(p, i) };
		for (int k = 0; k < 2; k++)
			out[1 + k] = beside(p, i, in[3 + k], moved[k]);
		hu_call *c = hu_optim_update(p, &o, "adamw", in, 6, out, 3);
		hu_attr_set(c, "beta1", o.beta1);
		hu_attr_set(c, "beta2", o.beta2);
		hu_attr_set(c, "eps", o.eps);
		decay(c, &o, p->t[i].name);
		for (int k = 0; k < 2; k++) {
			int to = hu_optim_apply(p, i, "map_cast", coded[k], p->t[in[3 + k]].format, 0, &out[1 + k], 1);
			hu_attr_set_text(&p->c[p->nc - 1], "map", map[k]);
			hu_attr_set(&p->c[p->nc - 1], "size", (double)size);
			hu_optim_keep(p, i, in[3 + k], to, found);
		}
	}
}
