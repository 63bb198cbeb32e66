/* SPDX-License-Identifier: Apache-2.0
   Node by node: operands become codes, products of codes are summed, and sums become numbers again. */
#include "lib/program/quantise/version.h"

#include "lib/base/console/show.h"
#include "lib/base/mem.h"
#include "lib/program/quantise/factor.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pass {
	const hu_scheme_plan *plan;
	const hu_program *from;
	hu_program *to;
	hu_version *v;
	size_t cap; /* of the version's arrays */
	int *raw;   /* by tensor of from: as its node's own calls read it; -1: as everyone */
	const hu_call *c;
	const hu_scheme *s;
} pass;

/* An operand as codes: its tensor and its scale, one number, or one a column. The scale is a constant, or a tensor. */
typedef struct coded {
	int codes, scale, zero; /* zero: the zero point's tensor; -1: none */
	const float *value;
	size_t n;
	double most; /* the largest sum of magnitudes along a column, or the largest magnitude of a code */
} coded;

/* Room for what the version knows of tensor ID. */
static void
note(pass *x, int id)
{
	hu_version *v = x->v;

	if ((size_t)id < x->cap)
		return;
	size_t cap = 2 * (size_t)id + 64;
	v->constant = hu_xrealloc(v->constant, cap * sizeof *v->constant);
	v->owned = hu_xrealloc(v->owned, cap);
	v->bits = hu_xrealloc(v->bits, cap * sizeof *v->bits);
	memset(v->constant + x->cap, 0, (cap - x->cap) * sizeof *v->constant);
	memset(v->owned + x->cap, 0, cap - x->cap);
	memset(v->bits + x->cap, 0, (cap - x->cap) * sizeof *v->bits);
	x->cap = cap;
}

/* A tensor named STEM@WORD, or with a number where that is taken. */
static int
tensor(pass *x, const char *stem, const char *word, hu_format_id f, hu_shape s, hu_tclass cls)
{
	char name[HU_NAME];

	snprintf(name, sizeof name, "%.100s@%.40s", stem, word);
	for (int i = 2; hu_program_find(x->to, name) >= 0; i++)
		snprintf(name, sizeof name, "%.100s@%.40s_%d", stem, word, i);
	int id = hu_program_tensor(x->to, name, f, s, cls);
	note(x, id);
	return id;
}

/* A constant float32 tensor; DATA is taken over. */
static int
constant(pass *x, const char *stem, const char *word, hu_shape s, float *data)
{
	int id = tensor(x, stem, word, HU_FP32, s, HU_WEIGHT);

	x->to->t[id].state = 1;
	x->v->constant[id] = (hu_tensor){ .format = HU_FP32, .shape = s, .n = hu_count(s), .data = data };
	x->v->owned[id] = 1;
	return id;
}

static int
number(pass *x, const char *stem, const char *word, float value)
{
	float *data = hu_xmalloc(sizeof *data);

	*data = value;
	int id = constant(x, stem, word, hu_shape0(), data);
	x->v->bits[id] = -1;
	return id;
}

/* A call of one output in the node at hand, whose output is STEM@WORD of format F. */
static int
call(pass *x, const char *op, const int *in, int nin, const char *stem, const char *word, hu_format_id f,
	const hu_attr *attr, int nattr)
{
	hu_shape shapes[4], out = { 0, { 0, 0, 0, 0 } };
	hu_call probe = { .op = hu_op_find(op), .nin = nin, .nout = 1, .nattr = nattr };

	for (int i = 0; i < nin; i++)
		shapes[i] = x->to->t[in[i]].shape;
	for (int i = 0; i < nattr; i++)
		probe.attr[i] = attr[i];
	HU_ASSERT(hu_op_shape(&probe, shapes, &out) == HU_OK);
	int id = tensor(x, stem, word, f, out, HU_ACTIVATION);
	hu_call *c = hu_program_call(x->to, op, HU_FORWARD, x->c->layer, in, nin, &id, 1);
	c->nattr = nattr;
	memcpy(c->attr, probe.attr, sizeof c->attr);
	return id;
}

/* Tensor T of the original, as calls of other nodes read it. */
static int
outer(const pass *x, int t)
{
	return x->v->map[t];
}

static int
call2(pass *x, const char *op, int a, int b, const char *stem, const char *word)
{
	return call(x, op, (int[]){ a, b }, 2, stem, word, HU_FP32, NULL, 0);
}

/* Scale and zero point of unsigned bytes from the tensor's own ends, 0 among them, as DynamicQuantizeLinear has them;
   the scale of nothing but zeros is 1. */
static void
own_affine(pass *x, int t, const char *stem, int *scale, int *zero)
{
	int nought = number(x, stem, "0", 0), high, low, s;
	hu_attr ends[2] = { { .key = "low", .num = 0 }, { .key = "high", .num = 255 } };

	high = call(x, "reduce_max", &t, 1, stem, "max", HU_FP32, NULL, 0);
	low = call(x, "reduce_min", &t, 1, stem, "min", HU_FP32, NULL, 0);
	high = call2(x, "max", high, nought, stem, "high");
	low = call2(x, "min", low, nought, stem, "low");
	s = call2(x, "div", call2(x, "sub", high, low, stem, "span"), number(x, stem, "255", 255), stem, "step");
	*scale = call(x, "where", (int[]){ s, s, number(x, stem, "1", 1) }, 3, stem, "scale", HU_FP32, NULL, 0);
	low = call(x, "neg", &low, 1, stem, "below", HU_FP32, NULL, 0);
	*zero = call(x, "quantise", (int[]){ low, *scale, nought }, 3, stem, "zero", HU_FP32, ends, 2);
}

/* The largest magnitude over the largest code, by the tensor's own values; 1 for nothing but zeros. */
static int
own_scale(pass *x, int t, const char *stem)
{
	int high = call(x, "reduce_max", (int[]){ call(x, "abs", &t, 1, stem, "abs", HU_FP32, NULL, 0) }, 1, stem,
		    "amax", HU_FP32, NULL, 0),
	    s = call2(x, "div", high, number(x, stem, "largest", (float)hu_format_of(x->s->format).max), stem, "step");

	return call(x, "where", (int[]){ s, s, number(x, stem, "1", 1) }, 3, stem, "scale", HU_FP32, NULL, 0);
}

static void
saturate(pass *x, int id)
{
	hu_call *c = &x->to->c[x->to->t[id].producer];

	c->flags |= HU_SATURATE;
}

/* Operand I of the product, an activation, as codes. Consumers of the same scheme share them. */
static coded
activation(pass *x, int i)
{
	const hu_info *t = &x->from->t[x->c->in[i]];
	const hu_range *r = &x->plan->range[x->c->in[i]];
	int in = outer(x, x->c->in[i]), integer = x->s->kind == HU_SCHEME_INTEGER,
	    is_dynamic = x->s->activations == HU_ACTIVATIONS_DYNAMIC, zero = -1;
	hu_affine a = { 1, 0, 0, 255 };
	coded to = { .n = 1, .scale = -1, .zero = -1, .most = integer ? 255 : 0 };
	char word[96], name[HU_NAME];
	float s = 1;

	if (!is_dynamic && integer) {
		a = hu_affine_of(r, hu_range_clip(r, x->s), x->s->bits, x->s->asymmetric);
		s = a.scale;
	} else if (!is_dynamic) {
		s = hu_range_scale(hu_range_clip(r, x->s), x->s->format);
	}
	snprintf(word, sizeof word, "codes_%.9g_%d_%d", is_dynamic ? 0 : (double)s, a.zero, a.low);
	for (char *w = word; *w; w++)
		*w = *w == '.' || *w == '+' ? '_' : *w;
	snprintf(word + strlen(word), sizeof word - strlen(word), "_%d", (int)(integer ? HU_NO_FORMAT : x->s->format));
	snprintf(name, sizeof name, "%.100s@%.40s", t->name, word);
	if (!is_dynamic) {
		float *one = hu_xmalloc(sizeof *one);
		*one = s;
		to.value = one;
	}
	if ((to.codes = hu_program_find(x->to, name)) >= 0) {
		const hu_call *made = &x->to->c[x->to->t[to.codes].producer];
		to.scale = made->in[1];
		to.zero = made->nin > 2 ? made->in[2] : -1;
		return to;
	}
	if (is_dynamic && integer)
		own_affine(x, in, t->name, &to.scale, &zero);
	else if (is_dynamic)
		to.scale = own_scale(x, in, t->name);
	else {
		to.scale = number(x, t->name, "scale", s);
		zero = integer ? number(x, t->name, "zero", (float)a.zero) : -1;
	}
	hu_attr ends[2] = { { .key = "low", .num = a.low }, { .key = "high", .num = a.high } };
	to.codes = call(x, "quantise", (int[]){ in, to.scale, zero }, integer ? 3 : 2, t->name, word,
		integer ? HU_FP32 : x->s->format, ends, integer ? 2 : 0);
	x->v->bits[to.codes] = (double)hu_count(t->shape) * x->s->bits;
	to.zero = zero;
	if (!integer)
		saturate(x, to.codes);
	return to;
}

/* Constant operand I of the product, as codes. */
static coded
weight(pass *x, int i, const hu_factor *f)
{
	const hu_info *t = &x->from->t[x->c->in[i]];
	float *code = hu_xmalloc((f->columns * f->k + 1) * sizeof *code),
	      *scale = hu_xcalloc(f->columns + 1, sizeof *scale);
	coded to = { .n = f->columns, .value = scale, .scale = -1, .zero = -1 };

	if (x->s->kind == HU_SCHEME_INTEGER)
		hu_factor_codes(code, scale, &to.most, f, x->s->bits, x->s->grain);
	else
		hu_factor_scaled(code, scale, f, x->s->format, x->s->grain);
	to.codes = constant(x, t->name, x->s->name, t->shape, code);
	if (x->s->kind == HU_SCHEME_FLOAT8)
		x->to->t[to.codes].format = x->s->format;
	x->v->bits[to.codes] = (double)(f->columns * f->k) * x->s->bits +
			       32.0 * (double)(x->s->grain == HU_GRAIN_TENSOR ? 1 : f->columns);
	return to;
}

/* The scales of A times those of B for COLUMNS columns, as a tensor. */
static int
scales(pass *x, const coded *a, const coded *b, size_t columns)
{
	const char *stem = x->from->t[x->c->out[0]].name;
	float *k = hu_xcalloc(columns + 1, sizeof *k);
	hu_attr vector[2] = { { .key = "rank", .num = 1 }, { .key = "d0", .num = (double)columns } };

	for (size_t j = 0; j < columns; j++)
		k[j] = (a->value ? a->value[0] : 1) * (b->value ? b->value[b->n > 1 ? j : 0] : 1);
	int id = constant(x, stem, "scales", hu_shape1(columns), k);
	x->v->bits[id] = -1;
	for (int i = 0; i < 2; i++) {
		const coded *one = i ? b : a;
		if (one->value)
			continue;
		int wide = call(x, "move", &one->scale, 1, stem, "wide", HU_FP32, vector, 2);
		id = call2(x, "mul", id, wide, stem, "scaled");
	}
	return id;
}

/* The output of the call under its own name. */
static int
result(pass *x, const char *op, const int *in, int nin)
{
	const hu_info *t = &x->from->t[x->c->out[0]];
	int id = hu_program_tensor(x->to, t->name, t->format, t->shape, t->cls);

	note(x, id);
	hu_program_call(x->to, op, HU_FORWARD, x->c->layer, in, nin, &id, 1);
	return id;
}

static hu_status
product(pass *x)
{
	const hu_info *t = &x->from->t[x->c->out[0]];
	const hu_tensor *w = &x->plan->constant[x->c->in[1]];
	int integer = x->s->kind == HU_SCHEME_INTEGER;
	hu_status st = HU_OK;
	hu_factor f;
	coded a = activation(x, 0), b = hu_factor_of(&f, x->c, w) ? weight(x, 1, &f) : activation(x, 1);
	double terms = hu_call_cost(x->from, x->c).macs / (double)hu_count(t->shape),
	       most = 255 * (f.columns ? b.most : 255 * terms);

	if (integer && most >= 0x1p31)
		st = hu_fail(HU_EUNABLE,
			"node '%.90s': sums of its %.0f products could leave 32 bits; keep it in a float format",
			hu_shown(x->c->layer), terms);
	int sum = tensor(x, t->name, "sum", HU_FP32, t->shape, HU_ACTIVATION);
	x->v->bits[sum] = -1;
	/* Of two activations neither is signed bytes: such products have no pairs that saturate. */
	int pairs = x->s->pairs16 && f.columns;
	char op[32];
	snprintf(op, sizeof op, "%s%s", x->c->op->name, pairs ? "_pairs16" : "");
	hu_call *c = hu_program_call(x->to, op, HU_FORWARD, x->c->layer, (int[]){ a.codes, b.codes, a.zero },
		pairs ? 3 : 2, &sum, 1);
	c->nattr = x->c->nattr;
	memcpy(c->attr, x->c->attr, sizeof c->attr);
	c->sum = x->c->sum;
	if (integer && !pairs) { /* whole numbers below 2^53 are summed exactly, and the sum is rounded once */
		c->sum = hu_sum_default();
		c->sum.acc = c->fmt.acc = HU_FP64;
	}
	x->v->map[x->c->out[0]] = result(x, "dequantise", (int[]){ sum, scales(x, &a, &b, hu_last(t->shape)) }, 2);
	free((float *)(size_t)a.value);
	free((float *)(size_t)b.value);
	return st;
}

/* What remains of the constant operand of a product whose weights alone are quantised; -1 where it is none. */
static int
remains(pass *x)
{
	const hu_info *t = &x->from->t[x->c->in[1]];
	char name[HU_NAME];
	hu_factor f;

	if (!hu_factor_of(&f, x->c, &x->plan->constant[x->c->in[1]]))
		return -1;
	snprintf(name, sizeof name, "%.100s@%.40s", t->name, x->s->name);
	int id = hu_program_find(x->to, name);
	if (id >= 0)
		return id;
	float *w = hu_xmalloc((f.columns * f.k + 1) * sizeof *w);
	double bits = hu_factor_remains(w, &f, x->s);
	id = constant(x, t->name, x->s->name, t->shape, w);
	x->v->bits[id] = bits;
	return id;
}

/* T rounded to format F, as a float32 tensor. OWN: it is a result, which deployment stores in F at once. */
static int
rounded(pass *x, int t, hu_format_id f, int own)
{
	double bits = (double)hu_count(x->to->t[t].shape) * hu_format_of(f).bits;
	char name[HU_NAME], stem[HU_NAME];

	snprintf(stem, sizeof stem, "%.*s", (int)strcspn(x->to->t[t].name, "@"), x->to->t[t].name);
	snprintf(name, sizeof name, "%.100s@%s_wide", stem, hu_format_name(f));
	int id = hu_program_find(x->to, name);
	if (id >= 0)
		return id;
	int low = hu_program_cast(x->to, t, f, HU_FORWARD, x->c->layer);
	note(x, low);
	snprintf(name, sizeof name, "%s_wide", hu_format_name(f));
	id = call(x, "cast", &low, 1, stem, name, HU_FP32, NULL, 0);
	x->v->bits[id] = bits;
	if (own)
		x->v->bits[low] = bits;
	return id;
}

/* The call as it is; under a FLOAT scheme its operands from other nodes, and its results for them, are rounded. */
static void
plain(pass *x)
{
	const hu_call *c = x->c;
	int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in), *out = hu_xmalloc((size_t)c->nout * sizeof *out),
	    rounds = x->s && x->s->kind == HU_SCHEME_FLOAT && x->s->format != HU_FP32;

	for (int i = 0; i < c->nin; i++) {
		const hu_info *t = &x->from->t[c->in[i]];
		int own = t->producer >= 0 && !strcmp(x->from->c[t->producer].layer, c->layer);
		in[i] = own && x->raw[c->in[i]] >= 0 ? x->raw[c->in[i]] : outer(x, c->in[i]);
		if (rounds && !own && t->format == HU_FP32 && (t->cls != HU_OTHER || t->state))
			in[i] = rounded(x, in[i], x->s->format, 0);
	}
	if (x->s && x->plan->quantisable[c->id] && x->s->kind != HU_SCHEME_FLOAT) {
		int w = remains(x);
		in[1] = w >= 0 ? w : in[1];
	}
	for (int k = 0; k < c->nout; k++) {
		const hu_info *t = &x->from->t[c->out[k]];
		out[k] = hu_program_tensor(x->to, t->name, t->format, t->shape, t->cls);
		note(x, out[k]);
	}
	hu_call *d = hu_program_call(x->to, c->op->name, c->phase, c->layer, in, c->nin, out, c->nout);
	d->nattr = c->nattr;
	memcpy(d->attr, c->attr, sizeof d->attr);
	d->flags = c->flags;
	d->mode = c->mode;
	d->sum = c->sum;
	d->fmt.acc = c->fmt.acc;
	d->fmt.compute = c->fmt.compute;
	for (int k = 0; k < c->nout; k++) {
		const hu_info *t = &x->from->t[c->out[k]];
		x->raw[c->out[k]] = x->v->map[c->out[k]] = out[k];
		if (rounds && t->format == HU_FP32 && t->cls != HU_OTHER) /* deployment keeps no wider copy of it */
			x->v->bits[out[k]] = (double)hu_count(t->shape) * x->s->bits;
		int leaves = x->plan->keep[c->out[k]];
		for (int i = 0; rounds && i < x->from->nc && !leaves; i++)
			for (int j = 0; j < x->from->c[i].nin && !leaves; j++)
				leaves = x->from->c[i].in[j] == c->out[k] && strcmp(x->from->c[i].layer, c->layer);
		if (rounds && leaves && t->format == HU_FP32 && t->cls != HU_OTHER)
			x->v->map[c->out[k]] = rounded(x, out[k], x->s->format, 1);
	}
	free(in);
	free(out);
}

/* 1 where the call's operands become codes. */
static int
is_coded(const hu_scheme_plan *plan, const hu_call *c, const hu_scheme *s)
{
	return s && plan->quantisable[c->id] && s->activations != HU_ACTIVATIONS_NONE &&
	       (s->kind == HU_SCHEME_INTEGER || s->kind == HU_SCHEME_FLOAT8);
}

int
hu_quantise_needs_range(const hu_scheme_plan *plan, const hu_call *c, int i, const hu_scheme *s)
{
	hu_factor f;

	if (!is_coded(plan, c, s) || s->activations != HU_ACTIVATIONS_STATIC || i > 1)
		return 0;
	return !i || !hu_factor_of(&f, c, &plan->constant[c->in[1]]);
}

hu_status
hu_version_of_schemes(hu_version *v, const hu_scheme_plan *plan)
{
	const hu_program *p = plan->p;
	pass x = { .plan = plan, .from = p, .to = hu_program_new(p->name), .v = v };
	hu_status st = HU_OK;

	memset(v, 0, sizeof *v);
	v->p = x.to;
	note(&x, p->nt);
	v->map = hu_xmalloc(((size_t)p->nt + 1) * sizeof *v->map);
	x.raw = hu_xmalloc(((size_t)p->nt + 1) * sizeof *x.raw);
	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		v->map[i] = x.raw[i] = -1;
		if (t->producer >= 0)
			continue;
		v->map[i] = hu_program_tensor(x.to, t->name, t->format, t->shape, t->cls);
		note(&x, v->map[i]);
		x.to->t[v->map[i]].state = t->state;
		v->constant[v->map[i]] = plan->constant[i];
	}
	for (int i = 0; i < p->nc && st == HU_OK; i++) {
		x.c = &p->c[i];
		x.s = plan->scheme[i];
		if (is_coded(plan, x.c, x.s))
			st = product(&x);
		else
			plain(&x);
	}
	free(x.raw);
	if (st == HU_OK)
		st = hu_program_validate(v->p);
	if (st != HU_OK)
		hu_version_release(v);
	return st;
}
