/* SPDX-License-Identifier: Apache-2.0
   Optimizers: they append the update calls to a differentiated program. The state of
   parameter LAYER.w is LAYER.w_m and LAYER.w_v, in the variable's own format; the
   values the step ends with are LAYER.w_next, LAYER.w_m_next, LAYER.w_v_next. */
#ifndef HU_TRAINER_OPTIM_H
#define HU_TRAINER_OPTIM_H

#include "lib/program/program.h"

typedef struct hu_optim hu_optim;

typedef struct hu_optim_options {
	const hu_optim *row;
	double lr, momentum, weight_decay, beta1, beta2, eps;
} hu_optim_options;

struct hu_optim {
	const char *name, *summary;
	double lr, momentum, weight_decay;      /* defaults */
	const char *reads;                      /* options, a blank between two */
	void (*append)(hu_program *p, const hu_optim_options *o, int found);
};

/* HU_EINVAL names those that there are. */
hu_status hu_optim_find(const char *name, const hu_optim **out);
const hu_optim *hu_optim_at(int i);

/* Appends optim.grad_norm over the parameters' gradients (info.grad: unscaled), then the row's
   updates; FOUND is the finite check's scalar: where it is set every update keeps the old value. */
void hu_optim_append(hu_program *p, const hu_optim_options *o, int found);
/* The optimizer has an epsilon, which, rounded to the variable's format as the update does, is zero. */
int hu_optim_eps_vanishes(const hu_optim_options *o, hu_format_id variable);

/* For the rows' files: a state beside tensor T, "LAYER.ROLE" + SUFFIX, and the value it takes. */
int hu_optim_state(hu_program *p, int t, const char *suffix);
int hu_optim_next(hu_program *p, int t);
/* The clock, and for each parameter a call of OP, adam or adamw, with lr, beta1, beta2 and eps; MORE, where it is not
   NULL, adds attributes. */
void hu_optim_moments(hu_program *p, const hu_optim_options *o, int found, const char *op,
	void (*more)(hu_call *c, const hu_optim_options *o));

#define OPTIM(id, lr, momentum, wd, reads, summary)                                                                    \
	void hu_optim_##id(hu_program *p, const hu_optim_options *o, int found);
#include "trainer/optim/optims.def"
#undef OPTIM
#endif
