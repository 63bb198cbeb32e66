/* SPDX-License-Identifier: Apache-2.0
   Gradient accumulation from program to program: the calls of one micro-batch become those of several, whose gradients
   are added, by a tree or over ranks. Calls that depend on no input, such as the casts of weights, stay single. */
#include "lib/program/pass/feedback.h"

#include "lib/op/move/keys.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pass {
	const hu_program *from;
	hu_program *to;
	int n;
	char *varies; /* the tensor differs from micro-batch to micro-batch */
	int *map;     /* the tensor's id in `to`, in the present micro-batch or in all */
	int *whole;   /* for an input, the id of the whole batch */
	int *part;    /* part[k * nt + i]: id of tensor i in micro-batch k */
	const hu_all_reduce *over;
} pass;

/* Writes LAYER.ROLE_microK[@FORMAT], or LAYER.ROLE_microKtoLAST[@FORMAT] where last is not k. */
static void
part_name(char *out, size_t size, const char *name, int k, int last)
{
	int base = (int)strcspn(name, "@");
	char to[16] = "";

	if (last != k)
		snprintf(to, sizeof to, "to%d", last);
	snprintf(out, size, "%.*s_micro%d%s%s", base, name, k, to, name + base);
}

static int
is_input(const hu_info *t)
{
	return t->producer < 0 && !t->state;
}

static void
mark(pass *s)
{
	const hu_program *p = s->from;

	for (int i = 0; i < p->nt; i++)
		s->varies[i] = (char)is_input(&p->t[i]);
	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nin; k++)
			for (int o = 0; s->varies[p->c[i].in[k]] && o < p->c[i].nout; o++)
				s->varies[p->c[i].out[o]] = 1;
}

/* Adds the tensor of `to` that stands for tensor i under this name. */
static int
add(pass *s, int i, const char *name)
{
	const hu_info *t = &s->from->t[i];
	int id = hu_program_tensor(s->to, name, t->format, t->shape, t->cls);
	hu_info *q = &s->to->t[id];

	q->state = t->state;
	q->trainable = t->trainable;
	q->loss_scaled = t->loss_scaled;
	return id;
}

static int
is_gradient(const hu_program *p, int i)
{
	for (int k = 0; k < p->nt; k++)
		if (p->t[k].trainable && p->t[k].grad == i)
			return 1;
	return 0;
}

/* Returns 1 where micro-batch k's tensor i has the name that it would have alone: the last next value of a state. */
static int
is_last_state(const pass *s, int i, int k)
{
	if (k == s->n - 1)
		for (int j = 0; j < s->from->nt; j++)
			if (s->from->t[j].next == i)
				return 1;
	return 0;
}

static void
copy_call(pass *s, const hu_call *c, int k, int varies)
{
	int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in), *out = hu_xmalloc(((size_t)c->nout + 1) * sizeof *out);

	for (int i = 0; i < c->nin; i++)
		in[i] = s->map[c->in[i]];
	for (int i = 0; i < c->nout; i++) {
		char name[HU_NAME + 48];
		const char *own = s->from->t[c->out[i]].name;
		part_name(name, sizeof name, own, k, k);
		out[i] = s->map[c->out[i]] = add(s, c->out[i], varies && !is_last_state(s, c->out[i], k) ? name : own);
		s->to->t[out[i]].reused = k > 0;
	}
	hu_call *d = hu_program_call(s->to, c->op->name, c->phase, c->layer, in, c->nin, out, c->nout);
	hu_call_copy_settings(d, c);
	/* Elements drawn at random are those of the whole batch. */
	if (varies && k && hu_op_takes(c->op, "first"))
		hu_attr_set(d, "first", (double)k * (double)hu_count(s->from->t[c->out[0]].shape));
	free(in);
	free(out);
}

/* Appends the call that takes micro-batch k's rows of input i out of the whole batch. */
static void
slice(pass *s, int i, int k)
{
	const hu_info *t = &s->from->t[i];
	char name[HU_NAME + 48];

	part_name(name, sizeof name, t->name, k, k);
	int id = s->map[i] = add(s, i, name);
	s->to->t[id].reused = 1;
	hu_call *c = hu_program_call(s->to, "move", HU_FORWARD, t->layer, &s->whole[i], 1, &id, 1);
	hu_attr_set(c, "rank", t->shape.rank);
	for (int j = 0; j < t->shape.rank; j++) {
		hu_attr_set(c, hu_move_key[j].d, (double)t->shape.d[j]);
		hu_attr_set(c, hu_move_key[j].from, j);
	}
	hu_attr_set(c, hu_move_key[0].start, (double)k * (double)t->shape.d[0]);
}

static void
micro_batch(pass *s, int k)
{
	const hu_program *p = s->from;

	for (int i = 0; i < p->nt; i++)
		if (is_input(&p->t[i]))
			slice(s, i, k);
	for (int i = 0; i < p->nc; i++) {
		int varies = s->varies[p->c[i].out[0]];
		if (k == 0 || varies)
			copy_call(s, &p->c[i], k, varies);
	}
	memcpy(s->part + (size_t)k * (size_t)p->nt, s->map, (size_t)p->nt * sizeof *s->map);
	/* The next micro-batch begins with the running statistics that this one leaves. */
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].state && p->t[i].next >= 0 && s->varies[p->t[i].next])
			s->map[i] = s->map[p->t[i].next];
}

/* Appends the additions of tensor i's parts first … last by pairs of neighbours: the left half has the largest power
   of two of them that leaves some to the right. */
static int
sum(pass *s, int i, int first, int last, hu_phase phase)
{
	const hu_info *t = &s->from->t[i];
	char name[HU_NAME + 48];
	int half = 1, in[2];

	if (first == last)
		return s->part[(size_t)first * (size_t)s->from->nt + (size_t)i];
	while (2 * half <= last - first)
		half *= 2;
	in[0] = sum(s, i, first, first + half - 1, phase);
	in[1] = sum(s, i, first + half, last, phase);
	part_name(name, sizeof name, t->name, first, last);
	int all = first == 0 && last == s->n - 1, out = add(s, i, all && is_gradient(s->from, i) ? t->name : name);
	s->to->t[out].reused = !all;
	hu_program_call(s->to, "add", phase, t->layer, in, 2, &out, 1);
	return out;
}

/* Returns a new tensor LAYER.ROLE_WORD[NUMBER][@FORMAT] of gradient i's shape, which lasts as long as the sum over
   ranks. Where the wire has a scale, its numbers are the gradient's times that: it is no gradient, of which anybody
   should ask for a loss scale, and has the range of fp32, or of fp64 if the gradient is fp64. */
static int
on_the_way(pass *s, int i, const char *word, int number)
{
	const hu_info *t = &s->from->t[i];
	int base = (int)strcspn(t->name, "@");
	char name[HU_NAME + 48], n[16] = "";

	if (number >= 0)
		snprintf(n, sizeof n, "%d", number);
	snprintf(name, sizeof name, "%.*s_%s%s%s", base, t->name, word, n, t->name + base);
	int id = add(s, i, name);
	hu_info *x = &s->to->t[id];
	x->reused = 1;
	if (s->over->scale != 1) {
		x->cls = HU_OTHER;
		x->loss_scaled = 0;
		x->format = hu_is_wide(t->format) ? t->format : HU_FP32;
	}
	return id;
}

/* Appends to = from times factor, and returns to. */
static int
multiplied(pass *s, int from, int to, const char *layer, double factor)
{
	hu_attr_set(hu_program_call(s->to, "scale", HU_BACKWARD, layer, &from, 1, &to, 1), "factor", factor);
	return to;
}

/* Appends a call that adds the ranks' sums of gradient i; before it their multiplication by the wire's scale
   and the correction by what was lost before, and behind it the division by that scale and, where that comes after it,
   by their number. */
static int
over_ranks(pass *s, int i)
{
	const hu_info *t = &s->from->t[i];
	const hu_all_reduce *r = s->over;
	int *in = hu_xmalloc((size_t)r->ranks * sizeof *in), direct = !r->after && r->scale == 1, out;

	for (int k = 0; k < r->ranks; k++) {
		int last = (k + 1) * s->n / r->ranks - 1;
		in[k] = sum(s, i, k * s->n / r->ranks, last, HU_BACKWARD);
		if (r->scale != 1)
			in[k] = multiplied(s, in[k], on_the_way(s, i, "sent", k), t->layer, r->scale);
		if (hu_feedback_helps(s->to, in[k], r))
			in[k] = hu_feedback_send(s->to, in[k], t->name, k, last, r);
	}
	out = direct ? add(s, i, t->name) : on_the_way(s, i, "sum", -1);
	hu_call *c = hu_program_call(s->to, "all_reduce", HU_BACKWARD, t->layer, in, r->ranks, &out, 1);
	c->sum = r->sum;
	if (hu_is_wide(t->format) && !r->own_acc)
		c->sum.acc = HU_FP64;
	if (c->sum.outer == HU_NO_FORMAT)
		c->sum.outer = t->format;
	c->fmt.acc = c->sum.acc;
	if (r->library)
		hu_attr_set(c, "library", 1);
	free(in);
	if (direct)
		return out;
	return multiplied(s, out, add(s, i, t->name), t->layer, 1 / (r->scale * (r->after ? r->ranks : 1)));
}

/* Returns the sum of parameter i's gradients, which parameters that are added to each other have in common. */
static int
gradient(pass *s, int i)
{
	const hu_program *p = s->from;

	for (int j = 0; j < i; j++)
		if (p->t[j].trainable && p->t[j].grad == p->t[i].grad)
			return s->to->t[s->whole[j]].grad;
	return s->over->ranks ? over_ranks(s, p->t[i].grad) : sum(s, p->t[i].grad, 0, s->n - 1, HU_BACKWARD);
}

/* Appends the mean of the losses of all micro-batches. */
static void
mean(pass *s, int loss)
{
	int all = sum(s, loss, 0, s->n - 1, HU_FORWARD), out = add(s, loss, s->from->t[loss].name);
	hu_call *c = hu_program_call(s->to, "scale", HU_FORWARD, s->from->t[loss].layer, &all, 1, &out, 1);

	hu_attr_set(c, "factor", 1.0 / s->n);
}

/* Appends the tensor that has the rows of tensor i of all micro-batches. */
static void
join(pass *s, int i)
{
	int *in = hu_xmalloc((size_t)s->n * sizeof *in), out = add(s, i, s->from->t[i].name);

	for (int k = 0; k < s->n; k++)
		in[k] = s->part[(size_t)k * (size_t)s->from->nt + (size_t)i];
	s->to->t[out].shape.d[0] *= (size_t)s->n;
	s->to->t[out].reused = 1;
	hu_attr_set(hu_program_call(s->to, "concat", HU_FORWARD, s->from->t[i].layer, in, s->n, &out, 1), "axis", 0);
	free(in);
}

/* Copies the tensors that no call writes: state, and inputs as whole batches. */
static void
begin(pass *s)
{
	const hu_program *p = s->from;

	mark(s);
	for (int i = 0; i < p->nt; i++) {
		if (p->t[i].producer >= 0)
			continue;
		s->map[i] = s->whole[i] = add(s, i, p->t[i].name);
		if (is_input(&p->t[i]))
			s->to->t[s->map[i]].shape.d[0] *= (size_t)s->n;
	}
}

/* Fills in what refers to other tensors. */
static void
refer(pass *s)
{
	const hu_program *p = s->from;

	for (int k = s->n - 1; k >= 0; k--)
		for (int i = 0; i < p->nt; i++) {
			const int *part = s->part + (size_t)k * (size_t)p->nt;
			hu_info *q = &s->to->t[part[i]];
			q->scale = p->t[i].scale >= 0 ? part[p->t[i].scale] : -1;
			if (!p->t[i].trainable)
				q->grad = p->t[i].grad >= 0 ? part[p->t[i].grad] : -1;
		}
}

void
hu_pass_micro_batches(hu_program **program, int n, int loss, int rows, const hu_all_reduce *r)
{
	const hu_program *p = *program;
	size_t nt = (size_t)p->nt + 1;
	pass s = { p, hu_program_new(p->name), n, hu_xcalloc(nt, 1), hu_xcalloc(nt, sizeof(int)),
		hu_xcalloc(nt, sizeof(int)), hu_xcalloc(nt * (size_t)n, sizeof(int)), r };

	begin(&s);
	for (int k = 0; k < n; k++)
		micro_batch(&s, k);
	refer(&s);
	int first = s.to->nc;
	mean(&s, loss);
	join(&s, rows);
	hu_program_mark_loss(s.to, first);
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0) {
			int grad = gradient(&s, i); /* appending moves the array of tensors */
			s.to->t[s.whole[i]].grad = grad;
		}
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].state && p->t[i].next >= 0)
			s.to->t[s.whole[i]].next = s.part[(size_t)(n - 1) * (size_t)p->nt + (size_t)p->t[i].next];
	free(s.varies);
	free(s.map);
	free(s.whole);
	free(s.part);
	hu_program_free(*program);
	*program = s.to;
}
