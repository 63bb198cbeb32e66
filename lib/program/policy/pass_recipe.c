/* SPDX-License-Identifier: Apache-2.0
   The pass of block formats: quantises the operands of products with weights by the policy's recipe, in the forward and
   the backward pass, each from the tensor as it was. */
#include "lib/program/policy/pass_policy.h"

#include "lib/base/mem.h"
#include "lib/number/block/block.h"
#include "lib/program/policy/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pass {
	const hu_program *from;
	hu_program *to;
	hu_block_recipe recipe;
	const char *high[2]; /* the first and the last layer with such a product, where they are left as they are */
	const hu_policy *policy;
	int trains;  /* the program has gradients: delayed scales and the signs' clock move */
	char *input; /* of each tensor: 1 where a product with weights has it as its first operand */
} pass;

/* The tensor that casts made t of; t itself where none did. */
static int
source_of(const hu_program *p, int t)
{
	while (p->t[t].producer >= 0 && p->c[p->t[t].producer].op->role == HU_ROLE_CAST)
		t = p->c[p->t[t].producer].in[0];
	return t;
}

/* Returns 1 for a parameter, or casts of one. */
static int
is_weight(const hu_program *p, int t)
{
	t = source_of(p, t);
	return p->t[t].producer < 0 && (p->t[t].trainable || p->t[t].state);
}

/* Which operands of c the recipe has, its first and its second; 0 where c is no product with weights, or a layer's
   that an override keeps. */
static int
operands_of(const pass *s, const hu_call *c, hu_recipe_operand *of)
{
	if (c->op->cls != HU_CLASS_GEMM || hu_policy_compute(s->policy, c->layer) != s->policy->compute)
		return 0;
	for (int k = 0; k < 2; k++)
		if (s->high[k] && !strcmp(s->high[k], c->layer))
			return 0;
	if (is_weight(s->from, c->in[1])) {
		of[0] = c->phase == HU_FORWARD ? HU_RECIPE_X : HU_RECIPE_DGRAD_G;
		of[1] = c->phase == HU_FORWARD ? HU_RECIPE_W : HU_RECIPE_DGRAD_W;
		return 1;
	}
	if (c->phase != HU_BACKWARD || s->from->t[c->out[0]].cls != HU_WGRAD)
		return 0;
	of[0] = s->input[c->in[0]] ? HU_RECIPE_WGRAD_X : HU_RECIPE_WGRAD_G;
	of[1] = s->input[c->in[0]] ? HU_RECIPE_WGRAD_G : HU_RECIPE_WGRAD_X;
	return 1;
}

/* Returns 1 where the terms of c's sums lie along another axis than the last of operand k. */
static int
is_across(const hu_call *c, int k)
{
	if (c->op->role == HU_ROLE_PRODUCT)
		return k ? hu_attr_num(c, "tb", 0) == 0 : hu_attr_num(c, "ta", 0) != 0;
	if (!strcmp(c->op->name, "conv2d"))
		return k; /* weights [height, width, channel, filter] are summed over all but the last */
	return !strcmp(c->op->name, "conv2d_dw"); /* over the pixels; the gradient's product over the filters */
}

/* The columns of operand k as a matrix. A product of matrices reads axes in one where its sums need it. */
static size_t
columns_of(const pass *s, const hu_call *c, int k)
{
	hu_shape a = s->from->t[c->in[0]].shape, b = s->from->t[c->in[1]].shape;
	size_t last = hu_last(b), terms = hu_attr_num(c, "tb", 0) != 0 ? last : last ? hu_count(b) / last : 0;

	if (c->op->role != HU_ROLE_PRODUCT)
		return hu_last(k ? b : a);
	return k ? last : hu_attr_num(c, "ta", 0) == 0 ? terms : terms ? hu_count(a) / terms : 0;
}

/* Returns the delayed scale of tensor t in a block format, of which other casts of t have it too; a new state
   NAME_fp8_scale with its history, and in a training the call that moves both. NAME is the tensor's, or where the
   tensor is the first operand of a product the product's weight's with _x: evaluation, too, has those. */
static int
delayed(pass *s, const hu_call *c, int t, int k, const char *blocks)
{
	const hu_info *of = &s->to->t[t];
	int in[3] = { t, -1, -1 }, out[2];
	char name[2][240];

	for (int i = 0; i < s->to->nc; i++)
		if (s->to->c[i].nin > 1 && s->to->c[i].in[0] == t && !strcmp(s->to->c[i].op->name, "block_cast") &&
			!strcmp(hu_attr_text(&s->to->c[i], "blocks", ""), blocks))
			return s->to->c[i].in[1];
	int named = c->phase == HU_FORWARD && k == 0 ? source_of(s->from, c->in[1]) : -1;
	const char *base = named >= 0 ? s->from->t[named].name : of->name;
	for (int i = 0;; i++) {
		for (int j = 0; j < 2; j++) {
			snprintf(name[j], sizeof name[j], "%.*s%s", (int)strcspn(base, "@"), base,
				named >= 0 ? "_x" : "");
			if (i)
				snprintf(name[j] + strlen(name[j]), 16, "_%d", i + 1);
			strcat(name[j], j ? HU_RECIPE_HISTORY : HU_RECIPE_SCALE);
		}
		if (hu_program_find(s->to, name[0]) < 0)
			break;
	}
	for (int j = 0; j < 2; j++) {
		hu_shape shape = j ? hu_shape1((size_t)s->recipe.history) : hu_shape0();
		in[1 + j] = hu_program_tensor(s->to, name[j], HU_FP32, shape, HU_OTHER);
		s->to->t[in[1 + j]].state = 1;
		if (!s->trains)
			return in[1];
	}
	for (int j = 0; j < 2; j++) {
		strcat(name[j], "_next");
		out[j] = hu_program_tensor(s->to, name[j], HU_FP32, s->to->t[in[1 + j]].shape, HU_OTHER);
		s->to->t[in[1 + j]].next = out[j];
	}
	hu_call *d = hu_program_call(s->to, "delayed_scale", c->phase, c->layer, in, 3, out, 2);
	hu_attr_set_text(d, "blocks", blocks);
	hu_attr_set(d, "margin", s->recipe.margin);
	hu_attr_set(d, "recent", s->recipe.recent);
	return in[1];
}

/* The state by which the signs of transforms are drawn, of which all have one; -1 where they are fixed. */
static int
clock_of(pass *s)
{
	int at = hu_program_find(s->to, HU_RECIPE_CLOCK);

	if (!s->recipe.drawn || at >= 0)
		return at;
	at = hu_program_tensor(s->to, HU_RECIPE_CLOCK, HU_FP64, hu_shape1(2), HU_OTHER);
	s->to->t[at].state = 1;
	return at;
}

/* Appends the call that moves the signs' clock by a step, behind the last transform. */
static void
move_clock(pass *s)
{
	int in[2] = { hu_program_find(s->to, HU_RECIPE_CLOCK), 0 }, next;

	if (in[0] < 0 || !s->trains)
		return;
	in[1] = hu_program_tensor(s->to, HU_RECIPE_TICK, HU_FP64, hu_shape1(2), HU_OTHER);
	s->to->t[in[1]].state = 1;
	next = hu_program_tensor(s->to, HU_RECIPE_CLOCK "_next", HU_FP64, hu_shape1(2), HU_OTHER);
	s->to->t[in[0]].next = next;
	hu_program_call(s->to, "add", s->to->c[s->to->nc - 1].phase, "hadamard", in, 2, &next, 1);
}

/* Appends a call of op, of `in` and where it is one of `scale`, or of a clock, unless there is one. */
static int
apply(pass *s, const hu_call *c, const char *op, int in, int scale, const char *word, hu_format_id f,
	const char *blocks, int across, size_t columns)
{
	const hu_info *t = &s->to->t[in];
	hu_attr attr[3] = { { .key = "across", .num = across }, { .key = "columns", .num = (double)columns },
		{ .key = "blocks" } };
	char name[240];
	int out, both[2] = { in, scale };

	snprintf(attr[2].text, sizeof attr[2].text, "%s", blocks ? blocks : "");
	for (int k = 0;; k++) { /* casts of one tensor to two formats may be operands of two products */
		snprintf(name, sizeof name, "%.*s@%s%s", (int)strcspn(t->name, "@"), t->name, word,
			across ? "_across" : "");
		if (k)
			snprintf(name + strlen(name), sizeof name - strlen(name), "_%d", k + 1);
		if ((out = hu_program_find(s->to, name)) < 0)
			break;
		const hu_call *made = &s->to->c[s->to->t[out].producer];
		if (made->in[0] == in && hu_attr_num(made, "columns", 0) == (double)columns)
			return out;
	}
	int scaled = t->loss_scaled;
	out = hu_program_apply(
		s->to, op, c->phase, c->layer, both, scale >= 0 ? 2 : 1, name, f, t->cls, attr, blocks ? 3 : 2);
	s->to->t[out].loss_scaled = scaled;
	return out;
}

static int
quantised(pass *s, const hu_call *c, int k, hu_recipe_operand which)
{
	static const char *const words[] = { "x", "w", "g", "w", "x", "g" };
	const char *blocks = s->recipe.blocks[which], *way[] = { "", "_dgrad", "_wgrad" };
	int t = c->in[k], across = is_across(c, k);
	size_t columns = columns_of(s, c, k);
	hu_block b;
	char word[64];

	if (!*blocks)
		return t;
	HU_ASSERT(hu_block_find(blocks, &b) == HU_OK); /* a row of recipes.def */
	snprintf(word, sizeof word, "%.20s_%s", s->recipe.name, words[which]);
	for (char *colon; (colon = strchr(word, ':'));)
		*colon = '_';
	/* Products share an operand that they quantise alike; where random bits decide, each draws its own. */
	if (strcmp(blocks, s->recipe.blocks[which % 2]) || hu_mode_draws(b.mode))
		strcat(word, way[which / 2]);
	/* A convolution's dw adds products of pixels that lie apart by each tap: no transform of them would cancel. */
	if (s->recipe.hadamard >> which / 2 & 1 && c->op->role == HU_ROLE_PRODUCT)
		t = apply(s, c, "hadamard", t, clock_of(s), "hadamard", s->to->t[t].format, NULL, across, columns);
	int scale = s->recipe.history && b.kind == HU_BLOCK_SINGLE && !b.size ? delayed(s, c, t, k, blocks) : -1;
	return apply(s, c, "block_cast", t, scale, word, HU_FP32, blocks, across, columns);
}

static void
copy_call(pass *s, const hu_call *c)
{
	hu_recipe_operand of[2];
	int *in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);

	memcpy(in, c->in, (size_t)c->nin * sizeof *in);
	int quantises = operands_of(s, c, of);
	for (int k = 0; k < 2 && quantises; k++)
		in[k] = quantised(s, c, k, of[k]);
	hu_call *d = hu_program_call(s->to, c->op->name, c->phase, c->layer, in, c->nin, c->out, c->nout);
	hu_format_id first = d->fmt.in;
	int id = d->id, *own_in = d->in, *own_out = d->out;
	*d = *c;
	d->id = id;
	d->in = own_in;
	d->out = own_out;
	d->fmt.in = first;
	free(in);
}

/* Notes a forward product with weights: its first operand, and its layer. */
static void
add_input(pass *s, const hu_call *c)
{
	int high = s->policy->blocks.high;

	s->input[c->in[0]] = 1;
	if (high & 1 && !s->high[0])
		s->high[0] = c->layer;
	if (high & 2)
		s->high[1] = c->layer;
}

hu_status
hu_pass_recipe(hu_program **program, const hu_policy *policy)
{
	hu_program *p = *program;
	pass s = { .from = p, .policy = policy };

	if (!*policy->recipe)
		return HU_OK;
	HU_TRY(hu_recipe_of(policy, &s.recipe));
	s.to = hu_program_new(p->name);
	s.input = hu_xcalloc((size_t)p->nt + 1, 1);
	for (int i = 0; i < p->nt; i++) {
		int id = hu_program_tensor(s.to, p->t[i].name, p->t[i].format, p->t[i].shape, p->t[i].cls);
		HU_ASSERT(id == i);
		s.to->t[i] = p->t[i];
		s.to->t[i].producer = -1;
	}
	for (int i = 0; i < p->nt; i++)
		s.trains |= p->t[i].trainable && p->t[i].grad >= 0;
	for (int i = 0; i < p->nc; i++)
		if (p->c[i].phase == HU_FORWARD && p->c[i].op->cls == HU_CLASS_GEMM && is_weight(p, p->c[i].in[1]))
			add_input(&s, &p->c[i]);
	for (int i = 0; i < p->nc; i++)
		copy_call(&s, &p->c[i]);
	move_clock(&s);
	free(s.input);
	hu_program_free(p);
	*program = s.to;
	return HU_OK;
}
