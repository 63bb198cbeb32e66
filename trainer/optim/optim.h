/* SPDX-License-Identifier: Apache-2.0
   Optimizers append the update calls to a differentiated program. The state of parameter LAYER.w is LAYER.w_m and
   LAYER.w_v (the moments), in the variable's own format; LAYER.w_next, LAYER.w_m_next and LAYER.w_v_next are the values
   after the step. */
#ifndef HU_TRAINER_OPTIM_H
#define HU_TRAINER_OPTIM_H

#include "lib/op/schedule.h"
#include "lib/program/program.h"

typedef struct hu_optim hu_optim;

/* The end of the name of a parameter's moving average: LAYER.ROLE_ema. */
#define HU_OPTIM_EMA "ema"

typedef struct hu_optim_options {
	const hu_optim *row;
	double lr, momentum, weight_decay, beta1, beta2, eps;
	hu_format_id constants; /* what Keras's formulas cast lr, beta1, beta2 and eps to; FP64: they do not */
	/* What the keys of keys.def say, of which 0 is the default: 1 + the format of moments and averages (the
	   variable's own), 1 + that of muon's iteration (bfloat16), and whether adam's constants are cast: 1 they are
	   not, 2 they are (as the policy says). update: how weights, moments and averages are rounded, RNE or SR;
	   kahan: short weights have a compensation. */
	int state, iterate, casting, kahan;
	hu_mode update;
	double clip_norm;        /* gradients of a larger norm are scaled down to it; 0: none is */
	double clip_value;       /* gradients' elements are limited to it and its negative; 0: none is */
	double ema;              /* decay of the moving average of each parameter; 0: there is none */
	const char *no_decay;    /* parameters that have no weight decay, as patterns (hu_match); NULL: none */
	hu_lr_schedule schedule; /* of lr; its decay_steps are settled when a program is built */
} hu_optim_options;

struct hu_optim {
	const char *name, *summary;
	double lr, momentum, weight_decay; /* defaults */
	int casts;                         /* the formula is Keras's, which casts its constants */
	const char *reads;                 /* names of the options that it reads, separated by blanks */
	void (*append)(hu_program *p, const hu_optim_options *o, int found);
};

/* Finds an optimizer by name; HU_EINVAL lists all names. */
hu_status hu_optim_find(const char *name, const hu_optim **out);
const hu_optim *hu_optim_at(int i);

/* Appends optim.grad_norm, the norm of the parameters' unscaled gradients (info.grad); where they are to be clipped,
   optim.clip = min(1, clip_norm / norm) and the gradients times that, LAYER.dROLE_clipped, which info.grad then
   names, as PyTorch's clip_grad_norm_ but for its 1e-6 added to the norm, or its elements limited to [-clip_value,
   clip_value], as by clip_grad_value_; one of them alone may be set; then, unless the learning rate is constant,
   optim.rate, computed from the state optim.step, which counts every step; then the row's updates, and where averages
   are kept, the state LAYER.ROLE_ema of each parameter after it. found is the scalar that the finite check sets: where
   it is set every update keeps the old value. */
void hu_optim_append(hu_program *p, const hu_optim_options *o, int found);
/* Returns the weight decay of a parameter by its name, LAYER.ROLE: that of o, or 0. */
double hu_optim_decay(const hu_optim_options *o, const char *parameter);
/* Returns a constant in the format o->constants. */
double hu_optim_constant(const hu_optim_options *o, double x);
/* Returns the beta of which 1 - beta is what Keras multiplies by: its 1 - beta, computed in double, in that format. */
double hu_optim_beta(const hu_optim_options *o, double beta);
/* Rounds the constants of an optimizer whose formula is not Keras's, and the averages' decay, to o->constants where the
   key constants says so; Keras's formulas round their own. */
void hu_optim_cast(hu_optim_options *o);
/* Returns what is lost where Keras's cast makes a beta 1 or the learning rate 0, as a sentence that the caller frees;
   NULL where nothing is. */
char *hu_optim_lost_constant(const hu_optim_options *o);
/* Returns 1 where the optimizer's epsilon becomes zero when it is rounded to the variable's format, as the update
   rounds it. */
int hu_optim_eps_vanishes(const hu_optim_options *o, hu_format_id variable);

/* For the optimizers' files. hu_optim_state adds a state tensor beside tensor t, called "LAYER.ROLE" + suffix;
   hu_optim_next adds the tensor of state t's next value. Both return a tensor id. */
int hu_optim_state(hu_program *p, const hu_optim_options *o, int t, const char *suffix);
int hu_optim_next(hu_program *p, int t);
/* Appends a call of op whose result, in format f and of parameter i's shape or a scalar, is LAYER.ROLE_SUFFIX. */
int hu_optim_apply(
	hu_program *p, int i, const char *op, const char *suffix, hu_format_id f, int scalar, const int *in, int nin);
/* Gives every parameter of fewer than 24 bits a compensation, after all updates were appended. */
void hu_optim_kahan(hu_program *p);
/* Appends the call that makes the next value of a state: `to` unless found is set, where the old one stays. */
void hu_optim_keep(hu_program *p, int i, int state, int to, int found);
/* Appends a call of op, an optimizer's update of the parameter in[0], with its learning rate: the attribute lr, or
   optim.rate as the last operand. in has room for it. */
hu_call *hu_optim_update(
	hu_program *p, const hu_optim_options *o, const char *op, int *in, int nin, const int *out, int nout);
/* Appends the call that advances Adam's clock, and returns the tensor of its next value. */
int hu_optim_clock(hu_program *p, const hu_optim_options *o, int found);
/* Appends the step counter and, for each parameter, a call of `op` (adam or adamw) with the attributes lr, beta1, beta2
   and eps; `more` adds further attributes to parameter's call where it is not NULL. */
void hu_optim_moments(hu_program *p, const hu_optim_options *o, int found, const char *op,
	void (*more)(hu_call *c, const hu_optim_options *o, const char *parameter));

/* The same of parameter i alone, with the clock that hu_optim_clock appended. */
void hu_optim_moments_of(hu_program *p, const hu_optim_options *o, int i, int found, int clock, const char *op,
	void (*more)(hu_call *c, const hu_optim_options *o, const char *parameter));

/* Appends AdamW's step of every parameter. Moments of parameters with 4096 elements or more are float32 numbers of a
   map's codes (map_cast) in blocks of `size` elements, the first by map m, the second by map v; the step is of the
   moments before they are rounded. Other parameters have AdamW's own. */
void hu_optim_mapped(hu_program *p, const hu_optim_options *o, int found, const char *m, const char *v, size_t size);

#define OPTIM(id, lr, momentum, wd, casts, reads, summary)                                                             \
	void hu_optim_##id(hu_program *p, const hu_optim_options *o, int found);
#include "trainer/optim/optims.def"
#undef OPTIM
#endif
