/* SPDX-License-Identifier: Apache-2.0
   Reverse-mode differentiation from program to program, by the operators' own gradient rules. */
#include "lib/program/pass/pass.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

typedef struct pass {
	hu_program *p;
	char *needed; /* the tensor is on a path from a trainable one */
	int *grad;    /* its gradient so far, or -1 */
	int *parts;   /* the number of contributions added to it */
} pass;

/* Writes LAYER.dROLE[.K][@FORMAT] for the k-th contribution to the gradient of t. suffix is @FORMAT, the gradient's
   own, unless casts of one tensor to two formats have gradients in the same format. */
static void
grad_name(char *out, size_t size, const hu_program *p, const hu_info *t, int k, const char *suffix)
{
	char number[16] = "";
	const char *at = strchr(t->name, '@');

	if (k)
		snprintf(number, sizeof number, "_%d", k + 1);
	snprintf(out, size, "%s.d%s%s%s%s%s", t->layer, t->role, number, suffix, at ? "@" : "",
		at ? hu_format_name(hu_program_product_format(t->format)) : "");
	if (at && hu_program_find(p, out) >= 0)
		snprintf(out, size, "%s.d%s%s%s%s", t->layer, t->role, number, suffix, at);
}

static int
new_grad(pass *s, int t, const char *suffix)
{
	const hu_info *of = &s->p->t[t];
	char name[160];

	grad_name(name, sizeof name, s->p, of, *suffix ? 0 : s->parts[t], suffix);
	int id = hu_program_tensor(s->p, name, hu_program_product_format(of->format), of->shape,
		of->cls == HU_WEIGHT ? HU_WGRAD : HU_GRADIENT);
	s->p->t[id].loss_scaled = 1;
	return id;
}

static void
mark_needed(pass *s)
{
	hu_program *p = s->p;

	for (int i = 0; i < p->nt; i++)
		s->needed[i] = (char)p->t[i].trainable;
	for (int i = 0; i < p->nc; i++)
		for (const hu_grad *g = p->c[i].op->grad; g && g->op; g++)
			for (const char *r = g->results; r && *r; r += r[2] ? 3 : 2) {
				int k = r[1] - '0';
				if (r[0] == 'i' && k < p->c[i].nin && s->needed[p->c[i].in[k]])
					for (int o = 0; o < p->c[i].nout; o++)
						s->needed[p->c[i].out[o]] = 1;
			}
}

/* Adds contribution d to the gradient of tensor t. */
static void
contribute(pass *s, int t, int d, const char *layer)
{
	s->parts[t]++;
	if (s->grad[t] < 0) {
		s->grad[t] = d;
		return;
	}
	char suffix[24];
	snprintf(suffix, sizeof suffix, s->parts[t] > 2 ? "_sum%d" : "_sum", s->parts[t]);
	int in[2] = { s->grad[t], d }, out = new_grad(s, t, suffix);
	hu_program_call(s->p, "add", HU_BACKWARD, layer, in, 2, &out, 1);
	s->grad[t] = out;
}

/* Casts the incoming gradient d to the format that the forward call's products run in. */
static int
operand_cast(pass *s, int d, const char *format, const char *layer)
{
	hu_format_id f;

	HU_ASSERT(hu_format_find(format, &f) == HU_OK);
	int out = hu_program_cast(s->p, d, f, HU_BACKWARD, layer);
	if (out != d)
		s->p->t[out].loss_scaled = 1;
	return out;
}

static void
copy_attrs(const hu_program *p, hu_call *to, const hu_call *from, const char *set)
{
	for (int i = 0; i < from->nattr; i++) {
		const hu_attr *a = &from->attr[i];
		if (!hu_op_takes(to->op, a->key) || !strcmp(a->key, "scaled"))
			continue;
		if (*a->text)
			hu_attr_set_text(to, a->key, a->text);
		else
			hu_attr_set(to, a->key, a->num);
	}
	for (const char *s = set; s && *s;) {
		char key[16] = "";
		double num = 0;
		int used = 0, k = 0, d = 0;
		if (sscanf(s, " %15[^=]=i%d.%d%n", key, &k, &d, &used) == 3)
			num = (double)p->t[from->in[k]].shape.d[d];
		else
			HU_ASSERT(sscanf(s, " %15[^=]=%lf%n", key, &num, &used) == 2);
		hu_attr_set(to, key, num);
		s += used;
	}
}

/* Weight gradients sum over every pixel or row of the batch, in parts of 4096 terms (doc/formats.md). */
enum { WGRAD_PART = 4096 };

static void
apply_rule(pass *s, int call, const hu_grad *g)
{
	hu_program *p = s->p;
	hu_call f = p->c[call]; /* a copy, because appending moves the array; its lists of ids do not move */
	int in[16], nin = 0, to[8], out[8], nout = 0, any = 0, scale[16] = { 0 }, scaled = 1;
	const char *grad = hu_attr_text(&f, "grad", "");

	for (const char *r = g->results; *r; r += r[2] ? 3 : 2) {
		to[nout] = f.in[r[1] - '0'];
		any |= s->needed[to[nout++]];
	}
	if (!any)
		return;
	for (const char *o = g->operands; *o; o += o[2] ? 3 : 2) {
		int k = o[1] - '0';
		if (o[0] == 'i' && k >= f.nin) /* an optional operand that the call does not have */
			continue;
		int t = o[0] == 'i' ? f.in[k] : o[0] == 'o' ? f.out[k] : s->grad[f.out[k]];
		if (t < 0)
			return; /* no gradient reaches this output */
		if (o[0] == 'd' && *grad && strcmp(g->op, "="))
			t = operand_cast(s, t, grad, f.layer);
		in[nin++] = t;
	}
	if (!strcmp(g->op, "=") || (hu_op_find(g->op)->role == HU_ROLE_CAST &&
					   p->t[in[0]].format == hu_program_product_format(p->t[to[0]].format))) {
		contribute(s, to[0], in[0], f.layer);
		return;
	}
	for (int i = 0; i < nin; i++)
		scaled &= (scale[i] = p->t[in[i]].scale) >= 0;
	for (int i = 0; scaled && f.op->cls == HU_CLASS_GEMM && i < 2; i++)
		in[nin++] = scale[i];
	for (int i = 0; i < nout; i++)
		out[i] = new_grad(s, to[i], "");
	hu_call *c = hu_program_call(p, g->op, HU_BACKWARD, f.layer, in, nin, out, nout);
	copy_attrs(p, c, &f, g->attrs);
	if (f.op->cls == HU_CLASS_GEMM) {
		hu_attr_set(c, "part", p->t[to[0]].cls == HU_WEIGHT ? WGRAD_PART : 0);
		if (scaled && c->nin == 4)
			hu_attr_set(c, "scaled", 1);
	}
	for (int i = 0; i < nout; i++)
		if (s->needed[to[i]])
			contribute(s, to[i], out[i], f.layer);
}

/* Rules name ten operands at most; those of a call with more would lack a gradient unseen. */
static hu_status
check_rules(const pass *s, int call)
{
	enum { NAMED = 10 };
	const hu_call *c = &s->p->c[call];

	for (int k = NAMED; k < c->nin && c->op->grad && c->phase == HU_FORWARD; k++)
		if (s->needed[c->in[k]])
			return hu_fail(HU_EINVAL,
				"%s with %d operands has a gradient for the first %d only: use several calls",
				c->op->name, c->nin, NAMED);
	return HU_OK;
}

hu_status
hu_pass_differentiate(hu_program *p, int loss, int seed)
{
	int nt = p->nt, nc = p->nc, room = 64 * (nt + 16);
	hu_status st = HU_OK;
	pass s = { p, hu_xcalloc((size_t)room, 1), hu_xmalloc((size_t)room * sizeof(int)),
		hu_xcalloc((size_t)room, sizeof(int)) };

	for (int i = 0; i < room; i++)
		s.grad[i] = -1;
	mark_needed(&s);
	s.grad[loss] = seed;
	for (int i = nc - 1; i >= 0 && st == HU_OK; i--) {
		if (p->c[i].phase != HU_FORWARD)
			continue;
		for (const hu_grad *g = p->c[i].op->grad; g && g->op; g++)
			if (hu_grad_applies(g, &p->c[i]))
				apply_rule(&s, i, g);
	}
	for (int i = 0; i < nt; i++) {
		p->t[i].grad = s.grad[i];
	}
	for (int i = 0; i < nc && st == HU_OK; i++)
		st = check_rules(&s, i);
	for (int i = 0; i < nt && st == HU_OK; i++)
		if (p->t[i].trainable && p->t[i].grad < 0)
			st = hu_fail(HU_EINVAL, "no gradient reaches %s", p->t[i].name);
	free(s.needed);
	free(s.grad);
	free(s.parts);
	return st;
}
