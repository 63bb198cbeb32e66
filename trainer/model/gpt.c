/* SPDX-License-Identifier: Apache-2.0
   The model "gpt": the decoder of Radford, Wu, Child, Luan, Amodei, Sutskever: Language models are unsupervised
   multitask learners (2019), GPT-2. Embeddings of tokens and positions are added; each block adds to its input the
   attention of the normalised input, in which no token sees those after it, and then two dense layers with gelu (its
   approximation by tanh) of the normalised sum; the normalised result times the table of token embeddings gives a logit
   for each token. With --model preset=gpt2 it has 124,439,808 parameters, the published model's. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer_attention.h"
#include "trainer/model/layer/layer_dropout.h"
#include "trainer/model/layer/layer_experts.h"
#include "trainer/model/loss/layer_loss.h"

static const double epsilon = 1e-5;

/* A mask [B, S] in which every token counts: a move that reads nothing but its constant. */
static int
every_token(hu_program *p, const hu_transformer *t, int tokens)
{
	hu_attr attr[] = { { "rank", 2, "" }, { "d0", (double)t->batch, "" }, { "d1", (double)t->length, "" },
		{ "from0", 0, "" }, { "start0", (double)t->batch, "" }, { "from1", 1, "" }, { "fill", 1, "" } };

	return hu_program_apply(
		p, "move", HU_FORWARD, "tokens", &tokens, 1, "tokens.mask", HU_FP32, HU_OTHER, attr, 7);
}

static int
block(hu_program *p, const hu_transformer *t, int number, int x)
{
	char name[16];

	snprintf(name, sizeof name, "block%d", number);
	int y = hu_layer_layernorm(p, hu_layer_named(name, "norm1").s, x, epsilon);
	x = hu_layer_sum(p, hu_layer_named(name, "add1").s, x, hu_layer_attention(p, t, name, y));
	y = hu_layer_layernorm(p, hu_layer_named(name, "norm2").s, x, epsilon);
	return hu_layer_sum(p, hu_layer_named(name, "add2").s, x,
		(t->experts ? hu_layer_experts : hu_layer_feed_forward)(p, t, name, y));
}

/* Appends loss.total, of which training takes the gradient: loss.y and the balance losses of all routers. */
static void
balanced(hu_program *p, const hu_transformer *t)
{
	int first = p->nc, total = hu_program_find(p, "loss.y");

	for (size_t i = 1; i <= t->layers; i++) {
		char name[32], role[32];
		snprintf(name, sizeof name, "block%zu", i);
		snprintf(role, sizeof role, "with%zu", i);
		int in[2] = { total, hu_layer_balance(p, t, name) };
		total = hu_layer_activation(p, "add", "loss", i < t->layers ? role : "total", in, 2, NULL, 0);
	}
	hu_program_mark_loss(p, first);
}

void
hu_model_gpt(hu_program *p, const hu_model_sizes *s, int eval)
{
	hu_attr transposed = { "tb", 1, "" };
	hu_transformer t;

	hu_transformer_sizes(&t, s, eval);
	t.causal = 1;
	t.gelu = "tanh";
	int tokens = hu_layer_indices(p, s, "tokens");
	if (!s->flash)
		t.mask = every_token(p, &t, tokens);
	int x = hu_layer_tokens(p, &t, tokens, -1);
	x = hu_layer_dropout(p, s, eval, "sum2", x);
	x = hu_layer_reshape(p, "sum2", "rows", x, hu_shape2(t.batch * t.length, t.hidden));
	for (size_t i = 1; i <= t.layers; i++)
		x = block(p, &t, (int)i, x);
	int in[2] = { hu_layer_layernorm(p, "norm", x, epsilon), hu_program_find(p, "tokens.w") };
	hu_layer_loss(p, s, hu_layer_activation(p, "matmul", "logits", "y", in, 2, &transposed, 1), "labels");
	if (t.balance > 0 && !eval)
		balanced(p, &t);
}
