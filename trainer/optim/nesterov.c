/* SPDX-License-Identifier: Apache-2.0
   Stochastic gradient descent with Nesterov's momentum: the calls of sgd.c, told so. */
#include "trainer/optim/optim.h"

void
hu_optim_nesterov(hu_program *p, const hu_optim_options *o, int found)
{
	int first = p->nc;

	hu_optim_sgd(p, o, found);
	for (int i = first; i < p->nc; i++)
		hu_attr_set(&p->c[i], "nesterov", 1);
}
