/* SPDX-License-Identifier: Apache-2.0
   Tensor parallelism of the forward pass: products with weights are divided along their sums, as a row-parallel layer
   divides them (Shoeybi and others: Megatron-LM, 2019). */
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/program/pass/pass.h"

#include <stdlib.h>
#include <string.h>

typedef struct pass {
	const hu_program *from;
	hu_program *to;
	int ranks, *map; /* by id of from's tensors */
	hu_sum sum;
} pass;

/* Whether the tensor is a parameter, or what casts and moves made of one. */
static int
is_weight(const hu_program *p, int t)
{
	while (p->t[t].producer >= 0 && p->c[p->t[t].producer].nin == 1)
		t = p->c[p->t[t].producer].in[0];
	return p->t[t].producer < 0 && p->t[t].trainable;
}

static int
divides(const hu_program *p, const hu_call *c, const char *pattern)
{
	return c->op->role == HU_ROLE_PRODUCT && c->nin == 2 && hu_attr_num(c, "batch", 0) == 0 &&
	       hu_attr_num(c, "ta", 0) == 0 && p->t[c->in[0]].shape.rank == 2 && p->t[c->in[1]].shape.rank == 2 &&
	       p->t[c->in[0]].scale < 0 && p->t[c->in[1]].scale < 0 && is_weight(p, c->in[1]) &&
	       hu_match(pattern, c->layer);
}

/* Appends rank r's part of tensor t, a matrix, along an axis. */
static int
part(pass *s, int t, int axis, int r, const char *layer)
{
	const hu_info *i = &s->to->t[t];
	hu_shape shape = i->shape;
	char name[HU_NAME + 24];

	snprintf(name, sizeof name, "%.130s_rank%d", i->name, r);
	if (hu_program_find(s->to, name) >= 0)
		return hu_program_find(s->to, name);
	shape.d[axis] /= (size_t)s->ranks;
	hu_attr attr[] = { { "rank", 2, "" }, { "d0", (double)shape.d[0], "" }, { "d1", (double)shape.d[1], "" },
		{ "from0", 0, "" }, { "from1", 1, "" }, { "start0", (double)r * (double)shape.d[axis], "" } };

	attr[5].key[5] = axis ? '1' : '0';
	return hu_program_apply(s->to, "move", HU_FORWARD, layer, &t, 1, name, i->format, HU_ACTIVATION, attr, 6);
}

/* Each rank's product has the format of the whole one; an all-reduce adds them, in float32 and sent in that format. */
static void
divide(pass *s, const hu_call *c)
{
	int *rank = hu_xmalloc((size_t)s->ranks * sizeof *rank), across = hu_attr_num(c, "tb", 0) == 0;
	const hu_info y = s->from->t[c->out[0]];

	for (int r = 0; r < s->ranks; r++) {
		char name[HU_NAME + 24];
		int in[2] = { part(s, s->map[c->in[0]], 1, r, c->layer),
			part(s, s->map[c->in[1]], across ? 0 : 1, r, c->layer) };
		snprintf(name, sizeof name, "%.130s_rank%d", y.name, r);
		rank[r] = hu_program_tensor(s->to, name, y.format, y.shape, y.cls);
		hu_call_copy_settings(hu_program_call(s->to, c->op->name, HU_FORWARD, c->layer, in, 2, &rank[r], 1), c);
	}
	int out = s->map[c->out[0]] = hu_program_tensor(s->to, y.name, y.format, y.shape, y.cls);
	hu_call *d = hu_program_call(s->to, "all_reduce", HU_FORWARD, c->layer, rank, s->ranks, &out, 1);
	d->sum = s->sum;
	if (hu_is_wide(y.format))
		d->sum.acc = HU_FP64;
	if (d->sum.outer == HU_NO_FORMAT)
		d->sum.outer = y.format;
	d->fmt.acc = d->sum.acc;
	free(rank);
}

static void
copy(pass *s, const hu_call *c)
{
	int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in), *out = hu_xmalloc(((size_t)c->nout + 1) * sizeof *out);

	for (int i = 0; i < c->nin; i++)
		in[i] = s->map[c->in[i]];
	for (int i = 0; i < c->nout; i++) {
		const hu_info *t = &s->from->t[c->out[i]];
		out[i] = s->map[c->out[i]] = hu_program_tensor(s->to, t->name, t->format, t->shape, t->cls);
		if (t->scale >= 0)
			s->to->t[out[i]].scale = s->map[t->scale];
	}
	hu_call *d = hu_program_call(s->to, c->op->name, c->phase, c->layer, in, c->nin, out, c->nout);
	hu_call_copy_settings(d, c);
	memcpy(d->seed_name, c->seed_name, sizeof d->seed_name);
	free(in);
	free(out);
}

hu_status
hu_pass_tensor_parallel(hu_program **p, const char *pattern, hu_sum sum)
{
	const hu_program *from = *p;
	int found = 0;

	for (int i = 0; i < from->nc; i++) {
		const hu_call *c = &from->c[i];
		if (!divides(from, c, pattern))
			continue;
		found = 1;
		if (from->t[c->in[0]].shape.d[1] % (size_t)sum.n)
			return hu_fail(HU_EINVAL, "layer %s: sums of %zu products cannot be dealt equally to %d ranks",
				c->layer, from->t[c->in[0]].shape.d[1], sum.n);
	}
	if (!found)
		return hu_fail(HU_EINVAL, "no layer that multiplies a matrix by a weight fits '%s'", pattern);
	pass s = { from, hu_program_new(from->name), sum.n, hu_xcalloc((size_t)from->nt + 1, sizeof(int)), sum };
	for (int i = 0; i < from->nt; i++) {
		const hu_info *t = &from->t[i];
		if (t->producer >= 0)
			continue;
		int id = s.map[i] = hu_program_tensor(s.to, t->name, t->format, t->shape, t->cls);
		s.to->t[id].state = t->state;
		s.to->t[id].trainable = t->trainable;
	}
	for (int i = 0; i < from->nc; i++)
		if (divides(from, &from->c[i], pattern))
			divide(&s, &from->c[i]);
		else
			copy(&s, &from->c[i]);
	free(s.map);
	hu_program_free(*p);
	*p = s.to;
	return hu_program_validate(*p);
}
