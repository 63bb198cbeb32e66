/* SPDX-License-Identifier: Apache-2.0
   AdamW with PyTorch's formula: the calls of adam.c and a weight decay. */
#include "trainer/optim/optim.h"

static void
decay(hu_call *c, const hu_optim_options *o, const char *parameter)
{
	hu_attr_set(c, "weight_decay", hu_optim_decay(o, parameter));
}

void
hu_optim_adamw(hu_program *p, const hu_optim_options *o, int found)
{
	hu_optim_moments(p, o, found, "adamw", decay);
}
