/* SPDX-License-Identifier: Apache-2.0
   Products of codes: operands become codes, products of codes are summed, and sums become numbers again. */
#include "lib/program/quantise/pass.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/program/quantise/factor.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An operand as codes: its tensor and its scale, one number, or one a column. The scale is a constant, or a tensor. */
typedef struct coded {
	int codes, scale, zero; /* zero: the zero point's tensor; -1: none */
	const float *value;
	size_t n;
	double most; /* the largest sum of magnitudes along a column, or the largest magnitude of a code */
} coded;

static int
call2(hu_quantise_pass *x, const char *op, int a, int b, const char *stem, const char *word)
{
	return hu_quantise_call(x, op, (int[]){ a, b }, 2, stem, word, HU_FP32, NULL, 0);
}

/* Scale and zero point of unsigned bytes from the tensor's own ends, 0 among them, as DynamicQuantizeLinear has them;
   the scale of nothing but zeros is 1. */
static void
own_affine(hu_quantise_pass *x, int t, const char *stem, int *scale, int *zero)
{
	int nought = hu_quantise_number(x, stem, "0", 0), high, low, s;
	hu_attr ends[2] = { { .key = "low", .num = 0 }, { .key = "high", .num = 255 } };

	high = hu_quantise_call(x, "reduce_max", &t, 1, stem, "max", HU_FP32, NULL, 0);
	low = hu_quantise_call(x, "reduce_min", &t, 1, stem, "min", HU_FP32, NULL, 0);
	high = call2(x, "max", high, nought, stem, "high");
	low = call2(x, "min", low, nought, stem, "low");
	s = call2(x, "div", call2(x, "sub", high, low, stem, "span"), hu_quantise_number(x, stem, "255", 255), stem,
		"step");
	*scale = hu_quantise_call(
		x, "where", (int[]){ s, s, hu_quantise_number(x, stem, "1", 1) }, 3, stem, "scale", HU_FP32, NULL, 0);
	low = hu_quantise_call(x, "neg", &low, 1, stem, "below", HU_FP32, NULL, 0);
	*zero = hu_quantise_call(x, "quantise", (int[]){ low, *scale, nought }, 3, stem, "zero", HU_FP32, ends, 2);
}

/* The largest magnitude over the largest code, by the tensor's own values; 1 for nothing but zeros. */
static int
own_scale(hu_quantise_pass *x, int t, const char *stem)
{
	int high = hu_quantise_call(x, "reduce_max",
		    (int[]){ hu_quantise_call(x, "abs", &t, 1, stem, "abs", HU_FP32, NULL, 0) }, 1, stem, "amax",
		    HU_FP32, NULL, 0),
	    s = call2(x, "div", high, hu_quantise_number(x, stem, "largest", (float)hu_format_of(x->s->format).max),
		    stem, "step");

	return hu_quantise_call(
		x, "where", (int[]){ s, s, hu_quantise_number(x, stem, "1", 1) }, 3, stem, "scale", HU_FP32, NULL, 0);
}

static void
saturate(hu_quantise_pass *x, int id)
{
	hu_call *c = &x->to->c[x->to->t[id].producer];

	c->flags |= HU_SATURATE;
}

/* Operand I of the product, an activation, as codes. Consumers of the same scheme share them. */
static coded
activation(hu_quantise_pass *x, int i)
{
	const hu_info *t = &x->from->t[x->c->in[i]];
	const hu_range *r = &x->plan->range[x->c->in[i]];
	int in = hu_quantise_outer(x, x->c->in[i]), integer = x->s->kind == HU_SCHEME_INTEGER,
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
		to.scale = hu_quantise_number(x, t->name, "scale", s);
		zero = integer ? hu_quantise_number(x, t->name, "zero", (float)a.zero) : -1;
	}
	hu_attr ends[2] = { { .key = "low", .num = a.low }, { .key = "high", .num = a.high } };
	to.codes = hu_quantise_call(x, "quantise", (int[]){ in, to.scale, zero }, integer ? 3 : 2, t->name, word,
		integer ? HU_FP32 : x->s->format, ends, integer ? 2 : 0);
	x->v->bits[to.codes] = (double)hu_count(t->shape) * x->s->bits;
	to.zero = zero;
	if (!integer)
		saturate(x, to.codes);
	return to;
}

/* The constant that holds these codes of T already, made for another product of the same weights; -1: none. */
static int
known_codes(const hu_quantise_pass *x, const hu_info *t, const float *code)
{
	char name[HU_NAME];

	snprintf(name, sizeof name, "%.100s@%.40s", t->name, x->s->name);
	int id = hu_program_find(x->to, name);
	size_t n = hu_count(t->shape);
	return id >= 0 && x->v->constant[id].data && hu_count(x->to->t[id].shape) == n &&
			       !memcmp(x->v->constant[id].data, code, n * sizeof *code)
		       ? id
		       : -1;
}

/* Constant operand I of the product, as codes. Products of the same weights share them. */
static coded
weight(hu_quantise_pass *x, int i, const hu_factor *f)
{
	const hu_info *t = &x->from->t[x->c->in[i]];
	float *code = hu_xmalloc((f->columns * f->k + 1) * sizeof *code),
	      *scale = hu_xcalloc(f->columns + 1, sizeof *scale);
	coded to = { .n = f->columns, .value = scale, .scale = -1, .zero = -1 };

	if (x->s->kind == HU_SCHEME_INTEGER)
		hu_factor_codes(code, scale, &to.most, f, x->s->bits, x->s->grain);
	else
		hu_factor_scaled(code, scale, f, x->s->format, x->s->grain);
	if ((to.codes = known_codes(x, t, code)) >= 0) {
		free(code);
		return to;
	}
	to.codes = hu_quantise_constant(x, t->name, x->s->name, t->shape, code);
	if (x->s->kind == HU_SCHEME_FLOAT8)
		x->to->t[to.codes].format = x->s->format;
	x->v->bits[to.codes] = (double)(f->columns * f->k) * x->s->bits +
			       32.0 * (double)(x->s->grain == HU_GRAIN_TENSOR ? 1 : f->columns);
	return to;
}

/* The scales of A times those of B for COLUMNS columns, as a tensor. */
static int
scales(hu_quantise_pass *x, const coded *a, const coded *b, size_t columns)
{
	const char *stem = x->from->t[x->c->out[0]].name;
	float *k = hu_xcalloc(columns + 1, sizeof *k);
	hu_attr vector[2] = { { .key = "rank", .num = 1 }, { .key = "d0", .num = (double)columns } };

	for (size_t j = 0; j < columns; j++)
		k[j] = (a->value ? a->value[0] : 1) * (b->value ? b->value[b->n > 1 ? j : 0] : 1);
	int id = hu_quantise_constant(x, stem, "scales", hu_shape1(columns), k);
	x->factors = a->value && b->value ? k : NULL; /* the version's, which outlives the pass */
	x->product = x->c;
	x->v->bits[id] = -1;
	for (int i = 0; i < 2; i++) {
		const coded *one = i ? b : a;
		if (one->value)
			continue;
		int wide = hu_quantise_call(x, "move", &one->scale, 1, stem, "wide", HU_FP32, vector, 2);
		id = call2(x, "mul", id, wide, stem, "scaled");
	}
	return id;
}

/* The output of the call under its own name. */
static int
result(hu_quantise_pass *x, const char *op, const int *in, int nin)
{
	const hu_info *t = &x->from->t[x->c->out[0]];
	int id = hu_program_tensor(x->to, t->name, t->format, t->shape, t->cls);

	hu_quantise_note(x, id);
	hu_program_call(x->to, op, HU_FORWARD, x->c->layer, in, nin, &id, 1);
	return id;
}

hu_status
hu_quantise_product(hu_quantise_pass *x)
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
	int sum = hu_quantise_tensor(x, t->name, "sum", HU_FP32, t->shape, HU_ACTIVATION);
	x->v->bits[sum] = -1;
	/* Of two activations neither is signed bytes: such products have no pairs that saturate. */
	int pairs = x->s->pairs16 && f.columns;
	char op[32];
	snprintf(op, sizeof op, "%s%s", x->c->op->name, pairs ? "_pairs16" : "");
	hu_call *c = hu_program_call(
		x->to, op, HU_FORWARD, x->c->layer, (int[]){ a.codes, b.codes, a.zero }, pairs ? 3 : 2, &sum, 1);
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

int
hu_quantise_is_coded(const hu_scheme_plan *plan, const hu_call *c, const hu_scheme *s)
{
	return s && plan->quantisable[c->id] && s->activations != HU_ACTIVATIONS_NONE &&
	       (s->kind == HU_SCHEME_INTEGER || s->kind == HU_SCHEME_FLOAT8);
}

int
hu_quantise_needs_range(const hu_scheme_plan *plan, const hu_call *c, int i, const hu_scheme *s)
{
	hu_factor f;

	if (!hu_quantise_is_coded(plan, c, s) || s->activations != HU_ACTIVATIONS_STATIC || i > 1)
		return 0;
	return !i || !hu_factor_of(&f, c, &plan->constant[c->in[1]]);
}
