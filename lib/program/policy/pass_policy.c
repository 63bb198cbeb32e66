/* SPDX-License-Identifier: Apache-2.0
   The policy pass: decides which format each call of a forward program runs in, and adds the casts that this requires.
   policy.h and doc/formats.md describe the lists. */
#include "lib/program/policy/pass_policy.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/program/policy/fake.h"

#include <stdlib.h>
#include <string.h>

typedef struct pass {
	const hu_program *from;
	hu_program *to;
	const hu_policy *policy;
	int *map;   /* maps each tensor of from to its version in to */
} pass;

/* Returns 1 for a parameter of a call: a weight or state that no call writes. */
static int
is_parameter(const hu_info *t)
{
	return t->producer < 0 && (t->trainable || t->state);
}

/* Returns 1 for labels, indices, masks and row weights, whose format no policy chooses. */
static int
is_index(const hu_info *t)
{
	return t->cls == HU_OTHER && !t->state;
}

/* Returns 1 for a product with a matrix that belongs to no layer: sums up to each element, interpolations. It only
   mixes elements, so that it runs like a pointwise operator, and the matrix keeps its format. */
static int
is_mixing(const pass *s, const hu_call *c, const int *in)
{
	const hu_info *t = c->nin > 1 ? &s->to->t[in[1]] : NULL;

	return c->op->cls == HU_CLASS_GEMM && t && t->cls == HU_OTHER && !t->state && t->producer < 0;
}

/* The widest format among a call's data inputs (type promotion); indices count only where there is nothing else. */
static hu_format_id
widest(const pass *s, const hu_call *c, const int *in)
{
	hu_format_id best = HU_NO_FORMAT;
	int data = 0;

	for (int i = 0; i < c->nin; i++)
		data |= !is_index(&s->to->t[in[i]]);
	for (int i = 0; i < c->nin; i++) {
		hu_format_id f = s->to->t[in[i]].format;
		if (i && (is_parameter(&s->to->t[in[i]]) || is_mixing(s, c, in)))
			continue;
		if (data && is_index(&s->to->t[in[i]]))
			continue;
		if (best == HU_NO_FORMAT || hu_format_of(f).p > hu_format_of(best).p)
			best = f;
	}
	return best;
}

/* Returns 1 for attention: its products of queries, keys and values, none of which is a parameter, run in the format
   that a policy chooses for products, as autocast's lists have it. */
static int
is_attention(const hu_call *c)
{
	return c->op == hu_op_find("attention");
}

const hu_call *
hu_policy_widened(const hu_policy *policy, const hu_program *p, hu_format_id *runs)
{
	for (int i = 0; i < p->nc; i++) {
		hu_format_id compute = hu_policy_compute(policy, p->c[i].layer);
		*runs = hu_program_product_format(compute);
		if (is_attention(&p->c[i]) && *runs != compute)
			return &p->c[i];
	}
	return NULL;
}

/* The format that the data inputs of call c are cast to. */
static hu_format_id
run_format(const pass *s, const hu_call *c, const int *in)
{
	hu_format_id compute = hu_policy_compute(s->policy, c->layer), low = hu_program_product_format(compute);
	hu_cast_list list = s->policy->list;

	if (hu_program_is_loss(c))
		return compute == HU_FP64 ? HU_FP64 : HU_FP32;
	if (is_attention(c))
		return low;
	switch (c->op->cls) {
	case HU_CLASS_GEMM:
		if (is_mixing(s, c, in))
			break;
		return compute;
	case HU_CLASS_LOSS: /* a place, which is no loss: elements are compared as they are */
		return widest(s, c, in);
	case HU_CLASS_NORM:
	case HU_CLASS_POINTWISE:
		if (c->op->float32 & ((list == HU_LIST_AUTOCAST ? HU_FLOAT32_AUTOCAST : 0) |
					     (list == HU_LIST_APEX ? HU_FLOAT32_APEX : 0)))
			return HU_FP32;
		break;
	case HU_CLASS_FIXED:
		return s->to->t[in[0]].format;
	}
	return list == HU_LIST_KERAS || list == HU_LIST_ALL ? low : widest(s, c, in);
}

static int
wants_cast(const pass *s, const hu_call *c, int i, int tensor)
{
	const hu_info *t = &s->to->t[tensor];

	if (c->op->cls == HU_CLASS_FIXED || is_index(t))
		return 0;
	/* Norms read their parameters as they are stored. */
	return !(c->op->cls == HU_CLASS_NORM && i > 0 && !is_attention(c));
}

/* Returns 1 for a call whose output keeps its format under every policy: a cast that the program itself asks for, and
   calls on indices and truth values alone. */
static int
keeps_format(const pass *s, const hu_call *c)
{
	for (int i = 0; i < c->nin; i++)
		if (s->from->t[c->in[i]].cls != HU_OTHER || s->from->t[c->in[i]].state)
			return c->op->role == HU_ROLE_CAST;
	return c->nin > 0;
}

static void
copy_call(pass *s, const hu_call *c)
{
	int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in), *out = hu_xmalloc((size_t)c->nout * sizeof *out),
	    nin = c->nin, scales = 0, first = s->to->nc;

	for (int i = 0; i < c->nin; i++)
		in[i] = s->map[c->in[i]];
	hu_format_id run = run_format(s, c, in),
		     made = c->op->cls == HU_CLASS_GEMM ? hu_program_product_format(run) : run;
	if (c->op->cls == HU_CLASS_LOSS && !hu_program_is_loss(c))
		made = HU_FP32; /* holds every place of a tensor */
	if (keeps_format(s, c))
		made = s->from->t[c->out[0]].format;
	for (int i = 0; i < c->nin; i++)
		if (wants_cast(s, c, i, in[i]))
			in[i] = hu_program_cast(s->to, in[i], run, HU_FORWARD, c->layer);
	if (s->policy->fake && c->op->cls == HU_CLASS_GEMM && is_parameter(&s->from->t[c->in[1]])) {
		/* The channels of a transposed matrix are not along its last axis: it has one scale. */
		int channels = s->policy->fake == HU_FAKE_CHANNEL && !hu_attr_num(c, "tb", 0);
		in[0] = hu_fake_quantise(s->to, in[0], 0, c->layer);
		in[1] = hu_fake_quantise(s->to, in[1], channels, c->layer);
	}
	if (c->op->cls == HU_CLASS_GEMM && s->to->t[in[0]].scale >= 0) {
		in = hu_xrealloc(in, ((size_t)nin + 2) * sizeof *in);
		in[nin] = s->to->t[in[0]].scale;
		in[nin + 1] = s->to->t[in[1]].scale;
		nin += 2;
		scales = 1;
	}
	for (int k = 0; k < c->nout; k++) {
		const hu_info *t = &s->from->t[c->out[k]];
		/* Statistics and other secondary outputs keep the format of the variables they update, or float32. */
		hu_format_id f = k == 0 ? made : t->cls == HU_OTHER ? (hu_is_wide(made) ? HU_FP64 : HU_FP32) : made;
		if (hu_program_is_loss(c) && !keeps_format(s, c))
			f = run;
		out[k] = s->map[c->out[k]] = hu_program_tensor(s->to, t->name, f, t->shape, t->cls);
	}
	hu_call *d = hu_program_call(s->to, c->op->name, c->phase, c->layer, in, nin, out, c->nout);
	d->nattr = c->nattr;
	memcpy(d->attr, c->attr, sizeof d->attr);
	if (c->op->role == HU_ROLE_CAST) {
		d->flags = c->flags;
		d->mode = c->mode;
	}
	if (c->loss)
		hu_program_mark_loss(s->to, first);
	if (scales)
		hu_attr_set(d, "scaled", 1);
	if (c->op->cls == HU_CLASS_GEMM && (run == HU_TF32 || scales))
		hu_attr_set_text(d, "grad", hu_format_name(scales ? s->policy->grad : run));
	free(in);
	free(out);
}

int
hu_policy_reaches(const hu_policy *policy, const hu_call *c)
{
	return policy->list == HU_LIST_KERAS || policy->list == HU_LIST_ALL || c->op->cls == HU_CLASS_GEMM ||
	       is_attention(c);
}

/* An override that matches no layer is taken for a typing error and refused, and so is one that changes nothing. */
static hu_status
check_overrides(const hu_program *p, const hu_policy *policy)
{
	for (int i = 0; i < policy->noverride; i++) {
		const char *pattern = policy->override[i].pattern;
		int fits = 0, follows = 0;
		for (int k = 0; k < p->nc && !follows; k++)
			if (hu_match(pattern, p->c[k].layer)) {
				fits = 1;
				follows = hu_policy_reaches(policy, &p->c[k]);
			}
		if (!fits)
			return hu_fail(HU_EINVAL,
				"policy: no layer of this model fits '%s'; halfulp plan lists the layers", pattern);
		if (!follows)
			return hu_fail(HU_EINVAL,
				"policy: '%s' fits layers without products, whose calls run in the format of their "
				"inputs under this list; a layer before them is what sets it", pattern);
	}
	return HU_OK;
}

hu_status
hu_pass_policy(const hu_program *p, const hu_policy *policy, hu_program **result)
{
	*result = NULL;
	HU_TRY(check_overrides(p, policy));
	pass s = { p, hu_program_new(p->name), policy, hu_xmalloc((size_t)p->nt * sizeof(int)) };

	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		s.map[i] = -1;
		if (t->producer >= 0)
			continue;
		int variable = t->trainable || t->state;
		int id = hu_program_tensor(s.to, t->name, variable ? policy->variable : t->format, t->shape, t->cls);
		s.to->t[id].state = t->state;
		s.to->t[id].trainable = t->trainable;
		s.map[i] = id;
	}
	for (int i = 0; i < p->nc; i++)
		copy_call(&s, &p->c[i]);
	/* A state tensor's next value has the state's own format, whatever call made it. */
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].next >= 0) {
			s.to->t[s.map[i]].next = s.map[p->t[i].next];
			s.to->t[s.map[p->t[i].next]].format = s.to->t[s.map[i]].format;
		}
	free(s.map);
	*result = s.to;
	return hu_program_validate(s.to);
}
