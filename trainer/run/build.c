/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/run/build.h"

#include "lib/program/policy/pass_policy.h"
#include "lib/base/mem.h"
#include "trainer/model/layer/layer_dropout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static hu_status
accumulate(hu_program *p, const hu_config *c)
{
	const char *text = c->accumulate ? c->accumulate : c->policy.accumulate;
	hu_sum sum;

	if (!*text)
		return HU_OK;
	HU_TRY(hu_sum_parse(text, &sum));
	hu_pass_accumulate(p, "*", sum);
	return HU_OK;
}

static hu_status
reductions(hu_program *p, const hu_config *c)
{
	hu_sum sum;

	if (!c->reductions)
		return HU_OK;
	HU_TRY(hu_sum_parse(c->reductions, &sum));
	return hu_pass_reductions(p, "*", sum);
}

/* Returns over how many steps a schedule of which that is not said decays: all after the warm-up, of which the schedule
   step makes three parts. */
static double
decay_steps(const hu_lr_schedule *s, double steps)
{
	double rest = steps > s->warmup + 1 ? steps - s->warmup : 1;

	return s->rule == HU_SCHEDULE_step ? ceil(rest / 3) : rest;
}

static hu_status
feedback(hu_program *p, const hu_config *c, const hu_all_reduce *r, int found)
{
	if (hu_pass_feedback(p, r, found) == HU_OK)
		return HU_OK;
	char *why = hu_xstrdup(hu_reason());
	hu_fail(HU_EINVAL, "--all-reduce %s: %s", c->all_reduce, why);
	free(why);
	return HU_EINVAL;
}

static hu_status
build(hu_program **out, const hu_config *c, const hu_model_sizes *s, int eval)
{
	size_t parts = eval || !c->micro_batches ? 1 : c->micro_batches;
	hu_model_sizes sizes = *s;
	hu_scaling share = c->scaling;
	hu_program *p = NULL;
	hu_optim_options optim = hu_config_optim(c);
	hu_all_reduce over = c->over_ranks;
	int found;

	over.rescaled = hu_scaling_moves(&c->scaling);
	sizes.batch /= parts;
	/* The loss of each micro-batch is divided by their number, as AMP's recipe does, or by a rank's number of them
	   where the ranks' sums are divided by that of ranks. */
	share.loss_weight /= (double)parts / (c->over_ranks.after ? c->over_ranks.ranks : 1);
	hu_program *forward = hu_model_program(c->row, &sizes, eval);
	hu_status st = hu_pass_policy(forward, &c->policy, &p);
	hu_program_free(forward);
	*out = p;
	HU_TRY(st);
	hu_dropout_begin(p);
	if (optim.schedule.decay_steps < 1)
		optim.schedule.decay_steps = decay_steps(&optim.schedule, (double)hu_config_steps(c, s->data));
	if (!eval) {
		int loss = hu_program_find(p, "loss.y"), total = hu_program_find(p, "loss.total"),
		    seed = hu_pass_loss_seed(p, &share);
		HU_TRY(hu_pass_differentiate(p, total < 0 ? loss : total, seed));
		HU_TRY(hu_pass_recipe(out, &c->policy));
		p = *out;
		if (parts > 1)
			hu_pass_micro_batches(out, (int)parts, loss, hu_program_find(p, "loss.p"), &over);
		p = *out;
		HU_TRY(hu_pass_loss_scaling(p, &c->scaling, &found));
		HU_TRY(feedback(p, c, &over, found));
		hu_optim_append(p, &optim, found);
		hu_dropout_end(p);
	}
	if (eval)
		HU_TRY(hu_pass_recipe(out, &c->policy));
	HU_TRY(accumulate(*out, c));
	HU_TRY(reductions(*out, c));
	return hu_program_validate(*out);
}

hu_status
hu_build(hu_programs *out, const hu_config *c, const hu_model_sizes *s)
{
	memset(out, 0, sizeof *out);
	HU_TRY(hu_model_check(c->row, s));
	hu_status st = build(&out->train, c, s, 0);
	if (st == HU_OK)
		st = build(&out->eval, c, s, 1);
	if (st != HU_OK)
		hu_programs_release(out);
	return st;
}

void
hu_programs_release(hu_programs *p)
{
	hu_program_free(p->train);
	hu_program_free(p->eval);
	memset(p, 0, sizeof *p);
}
