/* SPDX-License-Identifier: Apache-2.0
   The constants of an optimizer as its formula reads them. Keras casts the learning rate, both betas and epsilon to the
   variable's format, and 1 - beta, which it computes in double, as well (keras/src/optimizers/adam.py, 3.15): in
   bfloat16, whose largest number below 1 is 0.99609375, beta2 = 0.999 is 1, so that 1 - beta2^t and with it every
   update is zero. */
#include "trainer/optim/optim.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "lib/program/policy/policy.h"

static double
rounded(double x, hu_format_id f)
{
	return hu_round(x, hu_format_of(f), HU_RNE, 0, 0);
}

double
hu_optim_constant(const hu_optim_options *o, double x)
{
	return o->constants == HU_FP64 ? x : rounded(x, o->constants);
}

double
hu_optim_beta(const hu_optim_options *o, double beta)
{
	return o->constants == HU_FP64 ? beta : 1 - rounded(1 - beta, o->constants);
}

int
hu_optim_eps_vanishes(const hu_optim_options *o, hu_format_id variable)
{
	return hu_word_in(o->row->reads, "eps") && o->eps > 0 && rounded(o->eps, variable) == 0;
}

void
hu_optim_cast(hu_optim_options *o)
{
	if (o->casting != 2)
		return;
	o->ema = hu_optim_constant(o, o->ema);
	if (o->row->casts)
		return;
	o->momentum = hu_optim_constant(o, o->momentum);
	o->weight_decay = hu_optim_constant(o, o->weight_decay);
	o->beta1 = hu_optim_constant(o, o->beta1);
	o->beta2 = hu_optim_constant(o, o->beta2);
	o->eps = hu_optim_constant(o, o->eps);
}

/* What is lost by constants=variable of an optimizer whose formula is not Keras's, and of averages. */
static char *
lost_by_key(const hu_optim_options *o, const char *f)
{
	if (o->ema > 0 && o->ema < 1 && rounded(o->ema, o->constants) == 1)
		return hu_xprintf("the averages' decay %g is 1 in %s, to which constants=variable rounds it: averages "
				  "never change",
			o->ema, f);
	if (o->row->casts)
		return NULL;
	if (hu_word_in(o->row->reads, "beta2") && o->beta2 < 1 && rounded(o->beta2, o->constants) == 1)
		return hu_xprintf("beta2 %g is 1 in %s, to which constants=variable rounds it: what it averages never "
				  "changes, and a bias correction would divide by zero",
			o->beta2, f);
	if (o->lr > 0 && rounded(o->lr, o->constants) == 0)
		return hu_xprintf(
			"the learning rate %g is zero in %s, to which constants=variable rounds it", o->lr, f);
	return NULL;
}

char *
hu_optim_lost_constant(const hu_optim_options *o)
{
	const char *f = hu_dtype_name(o->constants);

	if (o->constants == HU_FP64 || (!o->row->casts && o->casting != 2))
		return NULL;
	char *lost = o->casting == 2 ? lost_by_key(o, f) : NULL;
	if (lost || !o->row->casts)
		return lost;
	double below = hu_round(1 - 0x1p-53, hu_format_of(o->constants), HU_RZ, 0, 0);
	if (o->beta1 < 1 && rounded(o->beta1, o->constants) == 1)
		return hu_xprintf("beta1 %g is 1 in %s, to which Keras casts it: every update is divided by "
				  "1 - beta1^t, which is zero; the largest beta1 below 1 there is %.8g",
			o->beta1, f, below);
	if (o->beta2 < 1 && rounded(o->beta2, o->constants) == 1)
		return hu_xprintf("beta2 %g is 1 in %s, to which Keras casts it: every update has the factor "
				  "sqrt(1 - beta2^t), which is zero, and no parameter moves; the largest beta2 below 1 "
				  "there is %.8g",
			o->beta2, f, below);
	if (o->lr > 0 && rounded(o->lr, o->constants) == 0)
		return hu_xprintf(
			"the learning rate %g is zero in %s, to which Keras casts it: no parameter moves", o->lr, f);
	return NULL;
}
