/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/program.h"

#include "lib/program/links.h"
#include "lib/program/opaque.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

hu_program *
hu_program_new(const char *name)
{
	hu_program *p = hu_xcalloc(1, sizeof *p);

	snprintf(p->name, sizeof p->name, "%s", name);
	return p;
}

static void
free_call(hu_call *c)
{
	free(c->in);
	free(c->out);
}

void
hu_program_free(hu_program *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->nc; i++)
		free_call(&p->c[i]);
	free(p->c);
	free(p->t);
	free(p->index);
	hu_links_free(p->links);
	hu_opaques_free(p->opaques);
	free(p);
}

static int *
copy_ids(const int *ids, int n)
{
	int *to = hu_xmalloc((size_t)n * sizeof *to);

	if (n)
		memcpy(to, ids, (size_t)n * sizeof *to);
	return to;
}

hu_program *
hu_program_copy(const hu_program *p)
{
	hu_program *q = hu_program_new(p->name);

	q->t = hu_xmalloc((size_t)p->nt * sizeof *q->t);
	q->c = hu_xmalloc((size_t)p->nc * sizeof *q->c);
	memcpy(q->t, p->t, (size_t)p->nt * sizeof *q->t);
	memcpy(q->c, p->c, (size_t)p->nc * sizeof *q->c);
	q->nt = q->tcap = p->nt;
	q->nc = q->ccap = p->nc;
	q->slots = p->slots;
	q->filled = p->filled;
	q->links = hu_links_copy(p->links);
	q->opaques = hu_opaques_copy(p->opaques);
	q->index = hu_xmalloc(p->slots * sizeof *q->index);
	if (p->slots)
		memcpy(q->index, p->index, p->slots * sizeof *q->index);
	for (int i = 0; i < q->nc; i++) {
		q->c[i].in = copy_ids(p->c[i].in, p->c[i].nin);
		q->c[i].out = copy_ids(p->c[i].out, p->c[i].nout);
	}
	return q;
}

/* Puts tensor i into the index. Tensors that were taken back leave their ids there, which no name fits any more. */
static void
index_add(hu_program *p, int i)
{
	size_t at = hu_fnv1a32(p->t[i].name) & (p->slots - 1);

	while (p->index[at] >= 0)
		at = (at + 1) & (p->slots - 1);
	p->index[at] = i;
}

void
hu_program_index(hu_program *p)
{
	enum { FIRST = 64 };

	free(p->index);
	p->filled = (size_t)p->nt;
	for (p->slots = FIRST; p->slots < 4 * p->filled; p->slots *= 2)
		;
	p->index = hu_xmalloc(p->slots * sizeof *p->index);
	memset(p->index, 0xff, p->slots * sizeof *p->index);
	for (int i = 0; i < p->nt; i++)
		index_add(p, i);
}

/* Puts tensor p->nt - 1 into the index, which is made anew where it would fill more than half of it. */
static void
index_last(hu_program *p)
{
	if (++p->filled <= p->slots / 2)
		index_add(p, p->nt - 1);
	else
		hu_program_index(p);
}

int
hu_program_find(const hu_program *p, const char *name)
{
	if (!p->slots)
		return -1;
	for (size_t at = hu_fnv1a32(name) & (p->slots - 1); p->index[at] >= 0; at = (at + 1) & (p->slots - 1))
		if (p->index[at] < p->nt && !strcmp(p->t[p->index[at]].name, name))
			return p->index[at];
	return -1;
}

int
hu_is_update(const hu_program *p, const hu_call *c)
{
	return c->phase == HU_UPDATE && c->nin > 0 && p->t[c->in[0]].trainable &&
	       hu_program_becomes(p, c->in[0], c->out[0]);
}

int
hu_program_is_loss(const hu_call *c)
{
	return (c->op->cls == HU_CLASS_LOSS && !c->op->extreme) || c->loss; /* the place of an extreme is none */
}

void
hu_program_mark_loss(hu_program *p, int first)
{
	for (int i = first; i < p->nc; i++)
		p->c[i].loss = 1;
}

/* Which moment a call's output is, by the operator's row. */
static int
moment_made(const hu_program *p, int tensor)
{
	const hu_call *c = p->t[tensor].producer >= 0 ? &p->c[p->t[tensor].producer] : NULL;
	const char *moment = c ? c->op->moment : NULL;

	for (int k = 0; c && moment && k < c->nout && moment[k]; k++)
		if (c->out[k] == tensor && moment[k] != '-')
			return moment[k] - '0';
	return 0;
}

int
hu_program_moment(const hu_program *p, int tensor)
{
	int moment = moment_made(p, tensor);

	if (!p->t[tensor].state || moment)
		return moment;
	for (int i = 0; p->links && !moment && i < p->links->n; i++) {
		int next = hu_program_next(p, p->links->s[i].step, tensor);
		moment = next >= 0 ? moment_made(p, next) : 0;
	}
	return moment || p->t[tensor].next < 0 ? moment : moment_made(p, p->t[tensor].next);
}

int
hu_is_cast(const hu_program *p, int tensor, int *from, int *scale)
{
	const hu_call *c = p->t[tensor].producer >= 0 ? &p->c[p->t[tensor].producer] : NULL;

	if (!c || c->op->role != HU_ROLE_CAST || c->out[0] != tensor)
		return 0;
	hu_format a = hu_format_of(p->t[tensor].format), b = hu_format_of(p->t[c->in[0]].format);
	*from = c->in[0];
	*scale = c->nout > 1 ? c->out[1] : -1;
	return a.p < b.p || a.emin > b.emin;
}

int
hu_program_tensor(hu_program *p, const char *name, hu_format_id f, hu_shape s, hu_tclass cls)
{
	const char *dot = strchr(name, '.');

	HU_ASSERT(dot && strlen(name) < sizeof p->t->name);
	if (hu_program_find(p, name) >= 0)
		hu_bug(__FILE__, __LINE__, "two tensors named %s", name);
	HU_GROW(p->t, p->nt, p->tcap);
	hu_info *t = &p->t[p->nt];
	memset(t, 0, sizeof *t);
	snprintf(t->name, sizeof t->name, "%s", name);
	snprintf(t->layer, sizeof t->layer, "%.*s", (int)(dot - name), name);
	snprintf(t->role, sizeof t->role, "%.*s", (int)strcspn(dot + 1, "@"), dot + 1);
	t->format = f;
	t->shape = s;
	t->cls = cls;
	t->next = t->scale = t->producer = t->grad = -1;
	p->nt++;
	index_last(p);
	return p->nt - 1;
}

hu_call *
hu_program_call(hu_program *p, const char *op, hu_phase phase, const char *layer, const int *in, int nin,
	const int *out, int nout)
{
	char named[96]; /* a call of the program may name the layer, and moves when one is added */
	int wide;

	snprintf(named, sizeof named, "%s", layer);
	HU_GROW(p->c, p->nc, p->ccap);
	hu_call *c = &p->c[p->nc];
	memset(c, 0, sizeof *c);
	c->id = p->nc++;
	c->op = hu_op_find(op);
	if (!c->op)
		hu_bug(__FILE__, __LINE__, "no operator named %s", op);
	c->phase = phase;
	snprintf(c->layer, sizeof c->layer, "%s", named);
	c->nin = nin;
	c->nout = nout;
	c->in = copy_ids(in, nin);
	c->out = copy_ids(out, nout);
	wide = nin && c->op->cls != HU_CLASS_FIXED && hu_is_wide(p->t[in[0]].format);
	for (int i = 0; i < nout; i++) {
		p->t[out[i]].producer = c->id;
		wide |= hu_is_wide(p->t[out[i]].format);
	}
	c->fmt.in = nin ? p->t[in[0]].format : HU_FP32;
	c->fmt.out = p->t[out[0]].format;
	c->fmt.compute = c->fmt.acc = wide ? HU_FP64 : HU_FP32;
	c->mode = HU_RNE;
	c->sum = hu_sum_default();
	c->sum.acc = c->fmt.acc;
	snprintf(c->seed_name, sizeof c->seed_name, "%s/%s", op, p->t[out[0]].name);
	return c;
}

void
hu_program_remove_call(hu_program *p, int call)
{
	free_call(&p->c[call]);
	memmove(&p->c[call], &p->c[call + 1], (size_t)(p->nc - call - 1) * sizeof *p->c);
	p->nc--;
	for (int i = call; i < p->nc; i++)
		p->c[i].id = i;
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].producer == call)
			p->t[i].producer = -1;
		else if (p->t[i].producer > call)
			p->t[i].producer--;
}

void
hu_program_truncate(hu_program *p, int n)
{
	while (p->nc > n)
		free_call(&p->c[--p->nc]);
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].producer >= n)
			p->t[i].producer = -1;
}

int *
hu_program_last_uses(const hu_program *p)
{
	int *last = hu_xcalloc((size_t)p->nt + 1, sizeof *last);

	for (int i = 0; i < p->nc; i++) {
		for (int k = 0; k < p->c[i].nin; k++)
			last[p->c[i].in[k]] = i;
		for (int k = 0; k < p->c[i].nout; k++)
			last[p->c[i].out[k]] = i;
	}
	return last;
}

void
hu_call_shapes(const hu_program *p, const hu_call *c, hu_shape *in, hu_shape *out)
{
	for (int i = 0; i < c->nin; i++)
		in[i] = p->t[c->in[i]].shape;
	for (int i = 0; i < c->nout; i++)
		out[i] = p->t[c->out[i]].shape;
}

int
hu_program_apply(hu_program *p, const char *op, hu_phase phase, const char *layer, const int *in, int nin,
	const char *out_name, hu_format_id f, hu_tclass cls, const hu_attr *attr, int nattr)
{
	hu_shape shapes[16], out = { 0, { 0, 0, 0, 0 } };
	hu_call probe = { .op = hu_op_find(op), .nin = nin, .nout = 1 };

	/* A layer may be named by a tensor of the program, which moves when one is added. */
	snprintf(probe.layer, sizeof probe.layer, "%s", layer);
	HU_ASSERT(probe.op && nin <= 16 && nattr <= HU_MAX_ATTR);
	for (int i = 0; i < nin; i++)
		shapes[i] = p->t[in[i]].shape;
	probe.nattr = nattr;
	for (int i = 0; i < nattr; i++)
		probe.attr[i] = attr[i];
	if (hu_op_shape(&probe, shapes, &out) != HU_OK)
		hu_bug(__FILE__, __LINE__, "%s for %s: %s", op, out_name, hu_reason());
	int id = hu_program_tensor(p, out_name, f, out, cls);
	hu_call *c = hu_program_call(p, op, phase, probe.layer, in, nin, &id, 1);
	c->nattr = nattr;
	for (int i = 0; i < nattr; i++)
		c->attr[i] = attr[i];
	return id;
}

hu_format_id
hu_program_product_format(hu_format_id f)
{
	return f == HU_TF32 ? HU_FP32 : hu_format_of(f).bits <= 8 ? HU_BF16 : f;
}

int
hu_program_cast(hu_program *p, int t, hu_format_id f, hu_phase phase, const char *layer)
{
	const int scaled = hu_format_of(f).bits <= 8;
	char name[240], scale[320];
	int out[2], n = 1;

	if (p->t[t].format == f && (!scaled || p->t[t].scale >= 0))
		return t;
	snprintf(name, sizeof name, "%.*s@%s", (int)strcspn(p->t[t].name, "@"), p->t[t].name, hu_format_name(f));
	if ((out[0] = hu_program_find(p, name)) >= 0)
		return out[0];
	out[0] = hu_program_tensor(p, name, f, p->t[t].shape, p->t[t].cls);
	if (scaled) {
		snprintf(scale, sizeof scale, "%s_scale%s", p->t[t].name, strchr(name, '@'));
		out[1] = hu_program_tensor(p, scale, HU_FP32, hu_shape0(), HU_OTHER);
		p->t[out[0]].scale = out[1];
		n = 2;
	}
	hu_call *c = hu_program_call(p, "cast", phase, layer, &t, 1, out, n);
	if (scaled) {
		hu_attr_set(c, "scaled", 1);
		c->flags |= HU_SATURATE;
	}
	return out[0];
}

double
hu_info_bytes(const hu_info *t)
{
	int bits = hu_format_of(t->format).bits;

	return (double)hu_count(t->shape) * (bits > 16 && bits < 32 ? 4.0 : bits / 8.0);
}

hu_cost
hu_call_cost(const hu_program *p, const hu_call *c)
{
	hu_cost cost = { .reads = c->nin };
	hu_shape *in = hu_xcalloc((size_t)c->nin + 1, sizeof *in), *out = hu_xcalloc((size_t)c->nout + 1, sizeof *out);

	hu_call_shapes(p, c, in, out);
	if (HU_COLUMN(c->op, cost))
		HU_COLUMN(c->op, cost)(c, in, out, &cost);
	cost.bytes_in = cost.bytes_out = 0;
	for (int i = 0; i < cost.reads; i++)
		cost.bytes_in += hu_info_bytes(&p->t[c->in[i]]);
	if (cost.unread > 0)
		cost.bytes_in -= cost.unread * hu_info_bytes(&p->t[c->in[0]]) / (double)hu_count(p->t[c->in[0]].shape);
	for (int i = 0; i < c->nout; i++)
		cost.bytes_out += hu_info_bytes(&p->t[c->out[i]]);
	free(in);
	free(out);
	return cost;
}

const char *
hu_phase_name(hu_phase phase)
{
	static const char *const names[] = { "forward", "backward", "update" };

	return names[phase];
}

const char *
hu_tclass_name(hu_tclass cls)
{
	static const char *const names[] = { "activation", "weight", "gradient", "wgrad", "other" };

	return names[cls];
}
