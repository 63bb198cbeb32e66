/* SPDX-License-Identifier: Apache-2.0
   A version of schemes: products of codes are made by pass_product.c, all other calls stay as they are, their weights
   or their operands and results perhaps rounded. */
#include "lib/program/quantise/pass.h"

#include "lib/base/mem.h"
#include "lib/program/quantise/factor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What remains of the constant operand of a product whose weights alone are quantised; -1 where it is none. */
static int
remains(hu_quantise_pass *x)
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
	id = hu_quantise_constant(x, t->name, x->s->name, t->shape, w);
	x->v->bits[id] = bits;
	return id;
}

/* What remains of operand 0 of the product in blocks along its sum: of a matrix along its rows, or transposed along its
   columns, and of a convolution along its channels. Products of the same activations share it. */
static int
blocks_of(hu_quantise_pass *x, int t)
{
	const hu_info *of = &x->to->t[t];
	int across = hu_attr_num(x->c, "ta", 0) != 0;
	hu_attr attr[2] = { { .key = "across", .num = across }, { .key = "blocks" } };
	char name[HU_NAME], stem[HU_NAME], word[64];

	snprintf(attr[1].text, sizeof attr[1].text, "%s", x->s->blocks);
	snprintf(word, sizeof word, "%.40s%s", x->s->blocks, across ? "_across" : "");
	for (char *w = word; *w; w++)
		*w = strchr(":+/.=", *w) ? '_' : *w;
	snprintf(stem, sizeof stem, "%.*s", (int)strcspn(of->name, "@"), of->name);
	snprintf(name, sizeof name, "%.100s@%.40s", stem, word);
	int id = hu_program_find(x->to, name);
	if (id >= 0 && x->to->t[id].producer >= 0 && x->to->c[x->to->t[id].producer].in[0] == t)
		return id;
	double bits = (double)hu_count(of->shape) * x->s->bits;
	id = hu_quantise_call(x, "block_cast", &t, 1, stem, word, HU_FP32, attr, 2);
	x->v->bits[id] = bits;
	return id;
}

/* The biases that the call at hand adds to sums of codes, as what their own codes are worth; -1 where it adds none. */
static int
coded_bias(hu_quantise_pass *x)
{
	int t = x->s && x->s->biases && x->product && x->factors
			? hu_factor_bias_of(x->from, x->plan->constant, x->c, x->product)
			: -1;

	if (t < 0)
		return -1;
	const hu_info *of = &x->from->t[t];
	float *worth = hu_xmalloc((hu_count(of->shape) + 1) * sizeof *worth);
	hu_factor_biases(NULL, worth, x->plan->constant[t].data, x->factors, hu_count(of->shape));
	return hu_quantise_constant(x, of->name, "coded", of->shape, worth);
}

/* T rounded to format F, as a float32 tensor. OWN: it is a result, which deployment stores in F at once. */
static int
rounded(hu_quantise_pass *x, int t, hu_format_id f, int own)
{
	double bits = (double)hu_count(x->to->t[t].shape) * hu_format_of(f).bits;
	char name[HU_NAME], stem[HU_NAME];

	snprintf(stem, sizeof stem, "%.*s", (int)strcspn(x->to->t[t].name, "@"), x->to->t[t].name);
	snprintf(name, sizeof name, "%.100s@%s_wide", stem, hu_format_name(f));
	int id = hu_program_find(x->to, name);
	if (id >= 0)
		return id;
	int low = hu_program_cast(x->to, t, f, HU_FORWARD, x->c->layer);
	hu_quantise_note(x, low);
	snprintf(name, sizeof name, "%s_wide", hu_format_name(f));
	id = hu_quantise_call(x, "cast", &low, 1, stem, name, HU_FP32, NULL, 0);
	x->v->bits[id] = bits;
	if (own)
		x->v->bits[low] = bits;
	return id;
}

/* The call as it is; under a FLOAT scheme its operands from other nodes, and its results for them, are rounded. */
static void
plain(hu_quantise_pass *x)
{
	const hu_call *c = x->c;
	int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in), *out = hu_xmalloc((size_t)c->nout * sizeof *out),
	    rounds = x->s && x->s->kind == HU_SCHEME_FLOAT && x->s->format != HU_FP32;

	for (int i = 0; i < c->nin; i++) {
		const hu_info *t = &x->from->t[c->in[i]];
		int own = t->producer >= 0 && !strcmp(x->from->c[t->producer].layer, c->layer);
		in[i] = own && x->raw[c->in[i]] >= 0 ? x->raw[c->in[i]] : hu_quantise_outer(x, c->in[i]);
		if (rounds && !own && t->format == HU_FP32 && (t->cls != HU_OTHER || t->state))
			in[i] = rounded(x, in[i], x->s->format, 0);
	}
	if (x->s && x->plan->quantisable[c->id] && x->s->kind != HU_SCHEME_FLOAT) {
		int w = remains(x);
		in[1] = w >= 0 ? w : in[1];
		if (w >= 0 && x->s->kind == HU_SCHEME_BLOCK && x->s->activations == HU_ACTIVATIONS_DYNAMIC)
			in[0] = blocks_of(x, in[0]);
	}
	int bias = coded_bias(x);
	in[1] = bias >= 0 ? bias : in[1];
	for (int k = 0; k < c->nout; k++) {
		const hu_info *t = &x->from->t[c->out[k]];
		out[k] = hu_program_tensor(x->to, t->name, t->format, t->shape, t->cls);
		hu_quantise_note(x, out[k]);
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

hu_status
hu_version_of_schemes(hu_version *v, const hu_scheme_plan *plan)
{
	const hu_program *p = plan->p;
	hu_quantise_pass x = { .plan = plan, .from = p, .to = hu_program_new(p->name), .v = v };
	hu_status st = HU_OK;

	memset(v, 0, sizeof *v);
	v->p = x.to;
	hu_quantise_note(&x, p->nt);
	v->map = hu_xmalloc(((size_t)p->nt + 1) * sizeof *v->map);
	x.raw = hu_xmalloc(((size_t)p->nt + 1) * sizeof *x.raw);
	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		v->map[i] = x.raw[i] = -1;
		if (t->producer >= 0)
			continue;
		v->map[i] = hu_program_tensor(x.to, t->name, t->format, t->shape, t->cls);
		hu_quantise_note(&x, v->map[i]);
		x.to->t[v->map[i]].state = t->state;
		v->constant[v->map[i]] = plan->constant[i];
	}
	for (int i = 0; i < p->nc && st == HU_OK; i++) {
		x.c = &p->c[i];
		x.s = plan->scheme[i];
		if (hu_quantise_is_coded(plan, x.c, x.s))
			st = hu_quantise_product(&x);
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
