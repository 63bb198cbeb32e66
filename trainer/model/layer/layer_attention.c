/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/layer/layer_attention.h"

#include "trainer/model/layer/layer_dropout.h"

#include <math.h>
#include <string.h>

typedef struct name {
	char s[48];
} name;

static name
part(const char *block, const char *of)
{
	name n;

	snprintf(n.s, sizeof n.s, "%.20s_%.20s", block, of);
	return n;
}

/* Returns the value that was asked for, or the model's own. */
static size_t
or_own(size_t asked, size_t own)
{
	return asked ? asked : own;
}

void
hu_transformer_sizes(hu_transformer *t, const hu_model_sizes *s, int eval)
{
	const hu_data_array *tokens = hu_dataset_find(s->data, "tokens");

	HU_ASSERT(tokens);
	*t = (hu_transformer){
		.batch = s->batch, .length = tokens->shape.d[0], .mask = -1, .gelu = "none", .options = s, .eval = eval
	};
	t->layers = or_own(s->layers, 2);
	t->hidden = or_own(s->hidden, 64);
	t->heads = or_own(s->heads, 4);
	t->inner = or_own(s->inner, 4 * t->hidden);
	t->vocabulary = or_own(s->vocabulary, tokens->classes);
	t->positions = or_own(s->positions, t->length);
	t->experts = s->experts;
	t->top_k = s->experts ? or_own(s->top_k, 2) : 0;
	t->balance = s->balance;
}

hu_status
hu_transformer_check(const hu_model_sizes *s)
{
	const hu_data_array *tokens = hu_dataset_find(s->data, "tokens");
	hu_transformer t;

	hu_transformer_sizes(&t, s, 1);
	if (t.hidden % t.heads)
		return hu_fail(HU_EINVAL,
			"--model hidden=%zu: %zu heads cannot share the features equally; choose heads=", t.hidden,
			t.heads);
	if (t.vocabulary < tokens->classes)
		return hu_fail(HU_EINVAL, "--model vocabulary=%zu: data set %s has %zu tokens", t.vocabulary,
			s->data->name, tokens->classes);
	if (t.positions < t.length)
		return hu_fail(HU_EINVAL, "--model positions=%zu: the samples of data set %s have %zu tokens",
			t.positions, s->data->name, t.length);
	if (s->top_k && !s->experts)
		return hu_fail(HU_EINVAL,
			"--model top_k=%zu: without a mixture of experts nothing is chosen; add experts=", s->top_k);
	if (s->balance > 0 && !s->experts)
		return hu_fail(HU_EINVAL,
			"--model balance=%g: without a mixture of experts there is no load to balance; add experts=",
			s->balance);
	if (t.top_k > t.experts)
		return hu_fail(HU_EINVAL, "--model top_k=%zu: a token cannot have more than the %zu experts there are",
			t.top_k, t.experts);
	if (s->positions && s->position && !strcmp(s->position, "none"))
		return hu_fail(HU_EINVAL,
			"--model positions=%zu,position=none: there is no table of positions; leave one of the two out",
			s->positions);
	if (!s->flash && (s->flash_sum || s->flash_delta))
		return hu_fail(HU_EINVAL,
			"--model %s=%s: only attention in blocks has it; add flash=",
			s->flash_sum ? "flash_sum" : "flash_delta", s->flash_sum ? s->flash_sum : s->flash_delta);
	if (s->flash && s->dropout > 0)
		return hu_fail(HU_EINVAL,
			"--model flash=%zu,dropout=%g: attention in blocks keeps no shares that dropout could set to "
			"0; "
			"leave one of the two out",
			s->flash, s->dropout);
	return HU_OK;
}

int
hu_layer_embedding(hu_program *p, const char *layer, int ids, size_t rows, size_t hidden)
{
	int in[2] = { hu_layer_parameter(p, layer, "w", hu_shape2(rows, hidden)), ids };

	return hu_layer_activation(p, "gather", layer, "y", in, 2, NULL, 0);
}

int
hu_layer_sum(hu_program *p, const char *layer, int a, int b)
{
	int in[2] = { a, b };

	return hu_layer_activation(p, "add", layer, "y", in, 2, NULL, 0);
}

/* Appends a move to `shape` whose output axis j runs over input axis from[j], or over none where that is -1. */
static int
moved(hu_program *p, const char *layer, const char *role, int x, hu_shape shape, const int *from)
{
	static const char *const length[] = { "d0", "d1", "d2", "d3" }, *const axis[] = { "from0", "from1", "from2",
		"from3" };
	hu_attr attr[10] = { { "rank", shape.rank, "" } };
	int n = 1;

	HU_ASSERT(shape.rank <= 4);
	for (int j = 0; j < shape.rank; j++) {
		attr[n].num = (double)shape.d[j];
		snprintf(attr[n++].key, sizeof attr->key, "%s", length[j]);
		if (!from)
			continue;
		attr[n].num = from[j];
		if (from[j] >= 0)
			snprintf(attr[n++].key, sizeof attr->key, "%s", axis[j]);
	}
	if (!from)
		attr[n++] = (hu_attr){ "flat", 1, "" };
	for (int i = 0; i < n; i++)
		*attr[i].text = 0;
	return hu_layer_activation(p, "move", layer, role, &x, 1, attr, n);
}

int
hu_layer_reshape(hu_program *p, const char *layer, const char *role, int x, hu_shape shape)
{
	return moved(p, layer, role, x, shape, NULL);
}

int
hu_layer_tokens(hu_program *p, const hu_transformer *t, int tokens, int segments)
{
	int x = hu_layer_embedding(p, "tokens", tokens, t->vocabulary, t->hidden);

	if (t->options->position && !strcmp(t->options->position, "none"))
		return x;
	int w = hu_layer_parameter(p, "positions", "w", hu_shape2(t->positions, t->hidden));
	int at = moved(p, "positions", "y", w, hu_shape3(t->batch, t->length, t->hidden), (int[]){ -1, 0, 1 });

	if (segments >= 0)
		x = hu_layer_sum(p, "sum1", x, hu_layer_embedding(p, "segments", segments, 2, t->hidden));
	return hu_layer_sum(p, "sum2", x, at);
}

int
hu_layer_layernorm(hu_program *p, const char *layer, int x, double eps)
{
	hu_shape features = hu_shape1(hu_last(p->t[x].shape)),
		 rows = hu_shape1(hu_count(p->t[x].shape) / features.d[0]);
	int out[3], in[3] = { x, hu_layer_parameter(p, layer, "gamma", features),
		hu_layer_parameter(p, layer, "beta", features) };
	static const char *const role[] = { "y", "mean", "rstd" };

	for (int k = 0; k < 3; k++) {
		char tensor[HU_NAME];
		snprintf(tensor, sizeof tensor, "%.90s.%s", layer, role[k]);
		out[k] = hu_program_tensor(p, tensor, HU_FP32, k ? rows : p->t[x].shape, k ? HU_OTHER : HU_ACTIVATION);
	}
	hu_attr_set(hu_program_call(p, "layernorm", HU_FORWARD, layer, in, 3, out, 3), "eps", eps);
	return out[0];
}

/* A dense layer whose features are divided among the heads: [B, heads, S, H / heads]. */
static int
headed(hu_program *p, const hu_transformer *t, const char *layer, int x)
{
	size_t each = t->hidden / t->heads;
	int y = hu_layer_reshape(p, layer, "split", hu_layer_linear(p, layer, x, t->hidden),
		hu_shape4(t->batch, t->length, t->heads, each));

	return moved(p, layer, "heads", y, hu_shape4(t->batch, t->heads, t->length, each), (int[]){ 0, 2, 1, 3 });
}

/* The product of the matrices of every sample and head. */
static int
product(hu_program *p, const char *layer, const char *role, int a, int b, int transposed)
{
	int in[2] = { a, b };
	hu_attr attr[2] = { { "batch", 2, "" }, { "tb", 1, "" } };

	return hu_layer_activation(p, "matmul", layer, role, in, 2, attr, transposed ? 2 : 1);
}

static int
hidden_keys(hu_program *p, const hu_transformer *t, const char *layer, int scores)
{
	int in[2] = { scores, t->mask };
	hu_attr attr[2] = { { "factor", 1 / sqrt((double)(t->hidden / t->heads)), "" }, { "fill", -10000, "" } };

	int y = hu_layer_activation(p, "mask_keys", layer, "masked", in, 2, attr, 2);
	return t->causal ? hu_layer_activation(p, "causal", layer, "causal", &y, 1, attr + 1, 1) : y;
}

/* Attention in blocks: the result, and what its gradients need: the logarithms of the sums, and the result before it is
   rounded where that is asked for. */
static int
in_blocks(hu_program *p, const hu_transformer *t, const char *layer, int q, int k, int v)
{
	const char *sum = t->options->flash_sum, *delta = t->options->flash_delta;
	int in[3] = { q, k, v }, out[3], unrounded = delta && !strcmp(delta, "unrounded");
	char tensor[3][HU_NAME];

	snprintf(tensor[0], HU_NAME, "%.90s.heads", layer);
	snprintf(tensor[1], HU_NAME, "%.90s.lse", layer);
	snprintf(tensor[2], HU_NAME, "%.90s.unrounded", layer);
	out[0] = hu_program_tensor(p, tensor[0], HU_FP32, p->t[q].shape, HU_ACTIVATION);
	out[1] = hu_program_tensor(p, tensor[1], HU_FP32, hu_shape3(t->batch, t->heads, t->length), HU_OTHER);
	if (unrounded)
		out[2] = hu_program_tensor(p, tensor[2], HU_FP32, p->t[q].shape, HU_OTHER);
	hu_call *c = hu_program_call(p, "attention", HU_FORWARD, layer, in, 3, out, 2 + unrounded);
	hu_attr_set(c, "block", (double)t->options->flash);
	hu_attr_set(c, "factor", 1 / sqrt((double)(t->hidden / t->heads)));
	if (t->causal)
		hu_attr_set(c, "causal", 1);
	if (sum && !strcmp(sum, "stored"))
		hu_attr_set(c, "stored", 1);
	if (unrounded)
		hu_attr_set(c, "unrounded", 1);
	return out[0];
}

static int
by_products(hu_program *p, const hu_transformer *t, const char *layer, int q, int k, int v)
{
	int scores = hidden_keys(p, t, layer, product(p, layer, "scores", q, k, 1));
	int share = hu_layer_activation(p, "softmax", layer, "p", &scores, 1, NULL, 0);

	share = hu_layer_dropout(p, t->options, t->eval, layer, share);
	return product(p, layer, "heads", share, v, 0);
}

int
hu_layer_attention(hu_program *p, const hu_transformer *t, const char *block, int x)
{
	name layer = part(block, "attention");
	int q = headed(p, t, part(block, "query").s, x), k = headed(p, t, part(block, "key").s, x),
	    v = headed(p, t, part(block, "value").s, x);
	int y = (t->options->flash ? in_blocks : by_products)(p, t, layer.s, q, k, v);

	y = moved(p, layer.s, "joined", y, hu_shape4(t->batch, t->length, t->heads, t->hidden / t->heads),
		(int[]){ 0, 2, 1, 3 });
	y = hu_layer_reshape(p, layer.s, "y", y, hu_shape2(t->batch * t->length, t->hidden));
	y = hu_layer_linear(p, part(block, "output").s, y, t->hidden);
	return hu_layer_dropout(p, t->options, t->eval, part(block, "output").s, y);
}

int
hu_layer_feed_forward(hu_program *p, const hu_transformer *t, const char *block, int x)
{
	int up = hu_layer_linear(p, part(block, "up").s, x, t->inner);
	hu_attr approx = { "approx", 0, "" };

	snprintf(approx.text, sizeof approx.text, "%s", t->gelu);
	int y = hu_layer_activation(
		p, "gelu", part(block, "gelu").s, "y", &up, 1, &approx, strcmp(t->gelu, "none") != 0);

	y = hu_layer_linear(p, part(block, "down").s, y, t->hidden);
	return hu_layer_dropout(p, t->options, t->eval, part(block, "down").s, y);
}
