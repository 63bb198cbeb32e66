/* SPDX-License-Identifier: Apache-2.0
   Computes a node again with some of its aspects taken from another engine's node. */
#include "analyzers/engines/cone.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "lib/op/attr.h"
#include "lib/op/reduce/summed.h"
#include "lib/program/exec.h"

#include <stdlib.h>
#include <string.h>

/* What a replay is made of: the node whose calls and, where it is the one of the formats, whose casts it has; the one
   whose formats, orders and settings it has. */
typedef struct replay {
	const hu_cone *calls, *format, *order, *setting;
	hu_program *p;
	int *map;  /* by tensor id of calls->e->p */
	int alike; /* both nodes have the same operators */
} replay;

static int
is_index(const hu_info *t)
{
	return t->cls == HU_OTHER && !t->state;
}

/* The order of one call's sums, with the formats of another's. A reduction that was told no model adds by the fixed
   tree, in its compute format. */
static void
set_order(hu_call *c, const hu_call *order, const hu_call *format)
{
	const hu_sum *o = hu_summed_or_product(order), *f = hu_summed_or_product(format);

	if (o) {
		c->sum = *o;
		if (hu_sum_is_unit(o->id)) {
			/* Operands of its call's formats, whichever these are. */
			c->sum.in = c->sum.in2 = c->sum.out = HU_NO_FORMAT;
			c->fmt.acc = f && hu_sum_is_unit(f->id) ? format->fmt.acc : HU_FP32;
		} else if (!f || !hu_sum_is_unit(f->id)) {
			c->fmt.acc = c->sum.acc = f ? f->acc : format->fmt.compute;
			c->sum.outer = f ? f->outer : HU_NO_FORMAT;
			c->sum.mode = f ? f->mode : HU_RNE;
			c->sum.bits = f ? f->bits : 0;
		} else {
			c->fmt.acc = o->acc;
		}
	}
	if (hu_attr_num(order, "part", -1) >= 0)
		hu_attr_set(c, "part", hu_attr_num(order, "part", 0));
	if (hu_attr_num(order, "summed", 0) != hu_attr_num(c, "summed", 0))
		hu_attr_set(c, "summed", hu_attr_num(order, "summed", 0));
	if (hu_attr_num(order, "block", 0) > 0 && hu_attr_num(c, "block", 0) > 0)
		hu_attr_set(c, "block", hu_attr_num(order, "block", 0));
}

static void
set_attributes(hu_call *c, const hu_call *from)
{
	double part = hu_attr_num(c, "part", -1), summed = hu_attr_num(c, "summed", -1),
	       block = hu_attr_num(c, "block", -1);

	c->nattr = from->nattr;
	memcpy(c->attr, from->attr, sizeof c->attr);
	if (part >= 0)
		hu_attr_set(c, "part", part);
	if (summed >= 0)
		hu_attr_set(c, "summed", summed);
	if (block >= 0)
		hu_attr_set(c, "block", block);
}

static void
add_tensor(replay *r, int id, hu_format_id f)
{
	const hu_info *t = &r->calls->e->p->t[id];
	int to = hu_program_tensor(r->p, t->name, f, t->shape, t->cls);

	r->map[id] = to;
	r->p->t[to].scale = -1;
}

/* Appends a call of the node as it is. */
static hu_call *
copy_call(replay *r, const hu_call *c, const int *in)
{
	int *out = hu_xmalloc(((size_t)c->nout + 1) * sizeof *out);

	for (int k = 0; k < c->nout; k++)
		out[k] = r->map[c->out[k]];
	hu_call *d = hu_program_call(r->p, c->op->name, HU_FORWARD, c->layer, in, c->nin, out, c->nout);
	free(out);
	hu_call_copy_settings(d, c);
	memcpy(d->seed_name, c->seed_name, sizeof d->seed_name);
	return d;
}

/* The calls of the node of the formats, casts included; where both nodes have the same operators, with the orders and
   settings of the others. */
static void
build_alike(replay *r)
{
	const hu_program *p = r->calls->e->p;

	for (int i = 0, k = 0; i < r->calls->n; i++) {
		const hu_call *c = &p->c[r->calls->call[i]];
		int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
		for (int j = 0; j < c->nin; j++)
			in[j] = r->map[c->in[j]];
		for (int j = 0; j < c->nout; j++)
			add_tensor(r, c->out[j], p->t[c->out[j]].format);
		hu_call *d = copy_call(r, c, in);
		free(in);
		if (hu_cone_is_cast(c->op) || !r->alike)
			continue;
		const hu_call *order = &r->order->e->p->c[r->order->main[k]],
			      *setting = &r->setting->e->p->c[r->setting->main[k]];
		if (r->setting != r->calls)
			set_attributes(d, setting);
		if (r->order != r->calls)
			set_order(d, order, c);
		k++;
	}
}

static const hu_call *
first_sum(const hu_cone *c)
{
	for (int i = 0; i < c->nmain; i++)
		if (hu_summed_or_product(&c->e->p->c[c->main[i]]))
			return &c->e->p->c[c->main[i]];
	return NULL;
}

/* The nodes have other operators, and the formats are not those of the calls' node: the calls without their casts, with
   operands in the format of the other node's first call and results in that of its last one. */
static void
build_restyled(replay *r)
{
	const hu_program *p = r->calls->e->p, *q = r->format->e->p;
	const hu_call *first = &q->c[r->format->main[0]], *last = &q->c[r->format->main[r->format->nmain - 1]],
		      *sum = first_sum(r->format);

	for (int i = 0; i < r->calls->n; i++) {
		const hu_call *c = &p->c[r->calls->call[i]];
		if (hu_cone_is_cast(c->op)) {
			r->map[c->out[0]] = r->map[c->in[0]];
			continue;
		}
		int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
		for (int j = 0; j < c->nin; j++) {
			in[j] = r->map[c->in[j]];
			if (!is_index(&r->p->t[in[j]]))
				in[j] = hu_program_cast(r->p, in[j], first->fmt.in, HU_FORWARD, c->layer);
		}
		for (int j = 0; j < c->nout; j++)
			add_tensor(r, c->out[j],
				is_index(&p->t[c->out[j]]) ? p->t[c->out[j]].format : q->t[last->out[0]].format);
		hu_call *d = copy_call(r, c, in);
		free(in);
		d->fmt.in = first->fmt.in;
		d->fmt.compute = last->fmt.compute;
		d->fmt.out = q->t[last->out[0]].format;
		d->mode = last->mode;
		if (sum && hu_summed_or_product(d))
			set_order(d, c, sum);
	}
}

/* Gives every call that adds, but one over ranks, the order of the other node's first sum. */
static void
set_orders(replay *r)
{
	const hu_call *order = first_sum(r->order);

	for (int i = 0; order && i < r->p->nc; i++)
		if (hu_summed_or_product(&r->p->c[i]) && r->p->c[i].op->role != HU_ROLE_ALL_REDUCE) {
			hu_call as = r->p->c[i];
			set_order(&r->p->c[i], order, &as);
		}
}

/* Whether the fixed tree, which adds in the compute format alone, would have to add in another one. */
static int
tree_in_other_format(const hu_cone *order, const hu_cone *format)
{
	for (int i = 0; i < order->nmain && order->nmain == format->nmain; i++) {
		const hu_call *o = &order->e->p->c[order->main[i]], *f = &format->e->p->c[format->main[i]];
		const hu_sum *s = hu_summed_or_product(f);
		if (s && !hu_summed_or_product(o) && (s->acc != f->fmt.compute || s->mode != HU_RNE))
			return 1;
	}
	return 0;
}

/* Runs the program on what the engine recorded. */
static hu_status
execute(hu_tensor *out, const replay *r)
{
	const hu_forward *e = r->calls->e;
	hu_env env = { e->seed, (uint32_t)e->step };
	hu_exec x;

	HU_TRY(hu_program_validate(r->p));
	HU_TRY(hu_exec_init(&x, r->p));
	for (int i = 0; i < e->p->nt; i++)
		if (r->calls->reads[i])
			memcpy(x.t[r->map[i]].data, e->t[i].data, e->t[i].n * hu_element_size(e->t[i].format));
	hu_status st = hu_exec_run(&x, &env);
	if (st == HU_OK) {
		hu_tensor *t = &x.t[r->map[r->calls->tensor]];
		*out = *t;
		out->data = hu_alloc(t->n * hu_element_size(t->format) + 1);
		if (out->data)
			memcpy(out->data, t->data, t->n * hu_element_size(t->format));
		else
			st = hu_fail(HU_ENOMEM, "no memory for %zu numbers", t->n);
	}
	hu_exec_release(&x);
	return st;
}

/* A tensor that no call makes: what a has recorded, in the format of the one of the formats. */
static hu_status
stored(hu_tensor *out, const hu_cone *values, const hu_cone *format)
{
	const hu_tensor *t = &values->e->t[values->tensor];

	*out = *t;
	out->format = format->e->t[format->tensor].format;
	out->data = hu_alloc(t->n * sizeof(double) + 1);
	if (!out->data)
		return hu_fail(HU_ENOMEM, "no memory for %zu numbers", t->n);
	for (size_t i = 0; i < t->n; i++)
		hu_put(out, i, hu_round(hu_get(t, i), hu_format_of(out->format), HU_RNE, 0, 0));
	return HU_OK;
}

hu_status
hu_cone_replay(hu_tensor *out, const hu_cone *a, const hu_cone *b, unsigned from_b)
{
	replay r = { .format = from_b & HU_CONE_FORMAT ? b : a,
		.order = from_b & HU_CONE_ORDER ? b : a,
		.setting = from_b & HU_CONE_SETTING ? b : a,
		.alike = !(hu_cone_differ(a, b) & HU_CONE_FUSION) };
	hu_status st;

	if (!a->n && !b->n)
		return stored(out, a, r.format);
	if (!a->nmain != !b->nmain)
		return hu_fail(HU_EINVAL, "one engine computes what the other one reads");
	if (r.alike && tree_in_other_format(r.order, r.format))
		return hu_fail(HU_EINVAL, "the fixed tree of a reduction has no accumulator of its own");
	r.calls = r.alike ? r.format : from_b & HU_CONE_FUSION ? b : a;
	const hu_program *p = r.calls->e->p;
	r.p = hu_program_new("node");
	r.map = hu_xcalloc((size_t)p->nt + 1, sizeof *r.map);
	for (int i = 0; i < p->nt; i++)
		if (r.calls->reads[i])
			add_tensor(&r, i, p->t[i].format);
	if (r.alike || r.format == r.calls)
		build_alike(&r);
	else
		build_restyled(&r);
	if (!r.alike && r.order != r.calls)
		set_orders(&r);
	st = execute(out, &r);
	free(r.map);
	hu_program_free(r.p);
	return st;
}
