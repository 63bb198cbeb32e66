/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/variant.h"

#include "lib/base/console/opt.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/number/round.h"
#include "lib/program/pass/pass.h"
#include "lib/program/policy/pass_policy.h"
#include "lib/program/routers.h"

#include <stdlib.h>
#include <string.h>

/* Fails with the option's name before the reason. */
static hu_status
of_option(hu_status st, const char *option, const char *value)
{
	if (st == HU_OK || st == HU_ENOMEM)
		return st;
	char *why = hu_xstrdup(hu_reason());
	hu_fail(st, "--%s %s: %s", option, hu_shown(value), why);
	free(why);
	return st;
}

/* The forward pass as a program of its own: the calls before the first of the backward pass. */
static hu_status
forward_part(hu_program **out, const hu_forward *e)
{
	hu_program *p = hu_program_copy(e->p);
	int n = 0, late = 0;

	while (n < p->nc && p->c[n].phase == HU_FORWARD)
		n++;
	for (int i = n; i < p->nc; i++)
		late |= p->c[i].phase == HU_FORWARD;
	hu_program_truncate(p, n);
	for (int i = 0; i < p->nt; i++)
		p->t[i].next = p->t[i].grad = -1;
	*out = p;
	if (!late)
		return HU_OK;
	hu_program_free(p);
	return hu_fail(HU_EFILE,
		"%s: its micro-batches have forward passes of their own: train a run without --batch micro=",
		hu_shown(e->name));
}

/* A policy is put into a program that has none. */
static hu_status
check_plain(const hu_program *p, const hu_forward *e)
{
	for (int i = 0; i < p->nc; i++) {
		const hu_info *t = &p->t[p->c[i].out[0]];
		if (p->c[i].op->role == HU_ROLE_CAST || (t->format != HU_FP32 && t->cls != HU_OTHER))
			return hu_fail(HU_EFILE,
				"%s computes %s in %s, and a policy changes programs in float32: train a run under "
				"--policy float32",
				hu_shown(e->name), hu_shown(t->name), hu_format_name(t->format));
	}
	return HU_OK;
}

static hu_status
set_policy(hu_program **p, const hu_forward *e, const char *text)
{
	hu_policy policy;
	hu_program *q = NULL;
	hu_sum sum;

	HU_TRY(hu_policy_parse(text, &policy));
	HU_TRY(check_plain(*p, e));
	hu_status st = hu_pass_policy(*p, &policy, &q);
	if (q) {
		hu_program_free(*p);
		*p = q;
	}
	HU_TRY(st);
	HU_TRY(hu_pass_recipe(p, &policy));
	if (!*policy.accumulate)
		return HU_OK;
	HU_TRY(hu_sum_parse(policy.accumulate, &sum));
	hu_pass_accumulate(*p, "*", sum);
	return HU_OK;
}

static hu_status
set_split(hu_program **p, const char *words)
{
	const char *key = strstr(words, ",layers="), *layers = key ? key + strlen(",layers=") : "*";
	char ring[32], text[128];
	hu_all_reduce over;
	double ranks;

	if (snprintf(text, sizeof text, "%.*s", key ? (int)(key - words) : (int)strlen(words), words) >=
		(int)sizeof text)
		return hu_fail(HU_EINVAL, "it is too long");
	if (hu_parse_real(text, &ranks) && ranks >= 2 && ranks <= 4096 && ranks == (int)ranks) {
		snprintf(ring, sizeof ring, "ring:%d", (int)ranks);
		HU_TRY(hu_all_reduce_parse(ring, 1, &over));
	} else
		HU_TRY(hu_all_reduce_parse(text, 1, &over));
	if (over.ranks < 2 || over.library || over.feedback || over.scale != 1)
		return hu_fail(HU_EINVAL, "a number of ranks, or ring:N, tree:N, halving:N or hier:N:G, is needed");
	return hu_pass_tensor_parallel(p, layers, over.sum);
}

/* Makes each router's choice a tensor that no call computes, and gives it the values of the other engine's. */
static hu_status
set_routing(hu_program *p, const hu_forward *from, const hu_forward *routing)
{
	int routers = 0;

	for (int i = 0; i < p->nt; i++) {
		int call = p->t[i].producer, id;
		if (strcmp(p->t[i].role, HU_ROLE_CHOSEN) || call < 0)
			continue;
		routers++;
		id = hu_program_find(routing->p, p->t[i].name);
		if (id < 0 || !routing->t[id].data || !hu_same_shape(routing->t[id].shape, p->t[i].shape))
			return hu_fail(HU_EFILE, "%s: %s of step %zu is no choice for the same tokens and experts",
				hu_shown(routing->name), hu_shown(p->t[i].name), routing->step);
		hu_program_remove_call(p, call);
	}
	if (!routers)
		return hu_fail(HU_EINVAL, "%s: its model has no routers; train one with --model gpt:experts=N",
			hu_shown(from->name));
	return HU_OK;
}

static hu_status
change(hu_program **p, const hu_forward *e, const hu_variant_options *v)
{
	hu_sum sum;

	if (v->policy)
		HU_TRY(of_option(set_policy(p, e, v->policy), "policy", v->policy));
	if (v->split)
		HU_TRY(of_option(set_split(p, v->split), "split", v->split));
	if (v->sum) {
		HU_TRY(of_option(hu_sum_parse(v->sum, &sum), "sum", v->sum));
		hu_pass_accumulate(*p, "*", sum);
	}
	if (v->reductions) {
		HU_TRY(of_option(hu_sum_parse(v->reductions, &sum), "reductions", v->reductions));
		HU_TRY(of_option(hu_pass_reductions(*p, "*", sum), "reductions", v->reductions));
	}
	if (v->routing)
		HU_TRY(set_routing(*p, e, v->routing));
	return hu_program_validate(*p);
}

/* Marks the tensors that a call reads or makes. */
static char *
touched(const hu_program *p)
{
	char *need = hu_xcalloc((size_t)p->nt + 1, 1);

	for (int i = 0; i < p->nc; i++) {
		for (int k = 0; k < p->c[i].nin; k++)
			need[p->c[i].in[k]] = 1;
		for (int k = 0; k < p->c[i].nout; k++)
			need[p->c[i].out[k]] = 1;
	}
	return need;
}

/* Fills in what no call makes, from what the run has recorded, or, of routers' choices, the other engine, rounded to
   nearest where the format is another one. */
static hu_status
fill(hu_exec *x, const hu_forward *own, const hu_forward *routing)
{
	for (int i = 0; i < x->p->nt; i++) {
		const hu_info *t = &x->p->t[i];
		if (!x->t[i].data || t->producer >= 0)
			continue;
		const hu_forward *from = routing && !strcmp(t->role, HU_ROLE_CHOSEN) ? routing : own;
		int id = hu_program_find(from->p, t->name);
		if (id < 0)
			return hu_fail(HU_EINVAL,
				"the policy keeps %s from step to step, and %s has none: train a run under it",
				hu_shown(t->name), hu_shown(from->name));
		if (!from->t[id].data)
			return hu_fail(HU_EFILE, "%s: %s was not recorded in step %zu; train with --trace '*'",
				hu_shown(from->name), hu_shown(t->name), from->step);
		for (size_t k = 0; k < x->t[i].n; k++)
			hu_put(&x->t[i], k, hu_round(hu_get(&from->t[id], k), hu_format_of(t->format), HU_RNE, 0, 0));
	}
	return HU_OK;
}

hu_status
hu_variant_make(hu_forward *to, const hu_forward *from, const hu_variant_options *v)
{
	hu_env env = { from->seed, (uint32_t)from->step };

	memset(to, 0, sizeof *to);
	to->name = from->name;
	to->seed = from->seed;
	to->step = from->step;
	HU_TRY(forward_part(&to->made, from));
	to->p = to->made;
	hu_status st = change(&to->made, from, v);
	to->p = to->made;
	if (st == HU_OK) {
		char *need = touched(to->p);
		st = hu_exec_init_some(&to->exec, to->p, need);
		free(need);
	}
	if (st == HU_OK)
		st = fill(&to->exec, from, v->routing);
	if (st == HU_OK)
		st = hu_exec_run(&to->exec, &env);
	to->t = to->exec.t;
	if (st != HU_OK)
		hu_forward_release(to);
	return st;
}
