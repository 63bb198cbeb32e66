/* SPDX-License-Identifier: Apache-2.0
   Adam with Keras's formula. */
#include "trainer/optim/optim.h"

void
hu_optim_adam(hu_program *p, const hu_optim_options *o, int found)
{
	hu_optim_moments(p, o, found, "adam", NULL);
}
