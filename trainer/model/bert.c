/* SPDX-License-Identifier: Apache-2.0
   The model "bert": the encoder of Devlin, Chang, Lee, Toutanova: BERT (2019) with a classifier. Embeddings of tokens,
   segments and positions are added and normalised; each block is attention and two dense layers with gelu, after both
   of which the block's input is added and the sum normalised; a pooler (dense, tanh) reads the first token. Epsilon of
   layer normalisation is 1e-12, as published. As preset=bert-base it has 109,482,240 parameters, the published
   model's, and 1,538 of the classifier for two classes. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer_attention.h"
#include "trainer/model/layer/layer_dropout.h"
#include "trainer/model/loss/layer_loss.h"

static const double epsilon = 1e-12;

/* The features of every sample's first token: [B, H] of x [B S, H]. */
static int
first_tokens(hu_program *p, const hu_transformer *t, int x)
{
	hu_attr attr[] = { { "rank", 2, "" }, { "d0", (double)t->batch, "" }, { "d1", (double)t->hidden, "" },
		{ "from0", 0, "" }, { "step0", (double)t->length, "" }, { "from1", 1, "" } };

	return hu_layer_activation(p, "move", "pooler", "first", &x, 1, attr, 6);
}

static int
block(hu_program *p, const hu_transformer *t, int number, int x)
{
	char name[16];

	snprintf(name, sizeof name, "block%d", number);
	int y = hu_layer_sum(p, hu_layer_named(name, "add1").s, x, hu_layer_attention(p, t, name, x));
	x = hu_layer_layernorm(p, hu_layer_named(name, "norm1").s, y, epsilon);
	y = hu_layer_sum(p, hu_layer_named(name, "add2").s, x, hu_layer_feed_forward(p, t, name, x));
	return hu_layer_layernorm(p, hu_layer_named(name, "norm2").s, y, epsilon);
}

void
hu_model_bert(hu_program *p, const hu_model_sizes *s, int eval)
{
	hu_transformer t;

	hu_transformer_sizes(&t, s, eval);
	int tokens = hu_layer_indices(p, s, "tokens"), segments = hu_layer_indices(p, s, "segments");
	t.mask = hu_layer_indices(p, s, "mask");
	int x = hu_layer_layernorm(p, "norm", hu_layer_tokens(p, &t, tokens, segments), epsilon);
	x = hu_layer_dropout(p, s, eval, "norm", x);
	x = hu_layer_reshape(p, "norm", "rows", x, hu_shape2(t.batch * t.length, t.hidden));
	for (size_t i = 1; i <= t.layers; i++)
		x = block(p, &t, (int)i, x);
	x = hu_layer_linear(p, "pooler", first_tokens(p, &t, x), t.hidden);
	x = hu_layer_activation(p, "tanh", "pooler", "tanh", &x, 1, NULL, 0);
	x = hu_layer_dropout(p, s, eval, "pooler", x);
	hu_layer_loss(p, s, hu_layer_linear(p, "classifier", x, hu_layer_classes(s, "labels")), "labels");
}
